import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { expressOpenidConnectSession } from '../../src/adapters/sessions/express-openid-connect.js';
import type { RequestContext } from '../../src/ports/http.js';
import type { SessionToken } from '../../src/ports/session-token-source.js';
import { ask, jwt, rejects, visit } from '../support/session-visit.js';

describe('express-openid-connect', () => {
  const IN_A_MINUTE = 60;
  const source = expressOpenidConnectSession();
  const token = (value: string, expired: boolean, refresh = rejects({})) => ({
    access_token: value,
    expires_in: IN_A_MINUTE,
    isExpired: () => expired,
    refresh,
  });
  const request = (facts: object, appSession: object = {}): RequestContext =>
    visit({ appSession, oidc: { refreshToken: 'r', idTokenClaims: { iss: 'https://t', sub: '1' }, ...facts } });

  it('returns a token that is still good without a refresh', async () => {
    const before = Date.now();
    const found = await ask(source, request({ accessToken: token('good', false), refreshToken: undefined }));
    expect(found).toMatchObject({ kind: 'token', accessToken: 'good', issuer: 'https://t', subject: '1' });
    expect(found).not.toHaveProperty('adopt');
    expect(found.kind === 'token' && found.expiresAt).toBeGreaterThanOrEqual(before + IN_A_MINUTE * 1_000);
    expect(found.kind === 'token' && found.expiresAt).toBeLessThanOrEqual(Date.now() + IN_A_MINUTE * 1_000);
  });

  it('reads the organization from the access token, else from the ID token', async () => {
    const idTokenClaims = { iss: 'https://t', sub: '1', org_id: 'of the sign-in' };
    const switched = token(jwt({ org_id: 'switched to' }), false);
    expect(await ask(source, request({ accessToken: switched, idTokenClaims }))).toMatchObject({
      tenant: 'switched to',
    });
    const opaque = token('opaque', false);
    expect(await ask(source, request({ accessToken: opaque, idTokenClaims }))).toMatchObject({
      tenant: 'of the sign-in',
    });
  });

  it.each([
    ['when it has expired', true, {}],
    ['when it is asked to', false, { forceRefresh: true }],
  ])('refreshes %s', async (_name, expired, query) => {
    const refresh = (): Promise<never> => Promise.resolve(token('new', false) as never);
    const found = await ask(source, request({ accessToken: token('old', expired, refresh) }), query);
    expect(found).toMatchObject({ kind: 'token', accessToken: 'new' });
  });

  describe('a session that another request refreshes', () => {
    const signedIn = (refreshToken = 'spent') => ({ access_token: 'old', refresh_token: refreshToken, cart: 'mine' });
    const refreshOf =
      (session: object, fields: object = { access_token: 'new', refresh_token: 'good' }) =>
      async () => {
        Object.assign(session, fields);
        return token('new', false) as never;
      };
    const underWay = async (session: object, response: EventEmitter): Promise<SessionToken> =>
      ask(
        source,
        visit({ appSession: session, oidc: { refreshToken: 'spent', accessToken: token('old', false) } }, response),
      );
    const refreshElsewhere = async (): Promise<void> => {
      const session = signedIn();
      await ask(source, request({ accessToken: token('old', true, refreshOf(session)) }, session));
    };

    it('is written refreshed on a response that has not begun', async () => {
      const [session, sharing, other] = [signedIn(), signedIn(), signedIn('of somebody else')];
      const found = await underWay(session, new EventEmitter());
      if (found.kind === 'token') found.adopt?.(visit({ appSession: sharing }, new EventEmitter()));
      await underWay(other, new EventEmitter());
      await refreshElsewhere();
      expect(session).toEqual({ access_token: 'new', refresh_token: 'good', cart: 'mine' });
      expect(sharing).toEqual(session);
      expect(other).toEqual(signedIn('of somebody else'));
    });

    it('is written refreshed on a response that shares the refresh, also by the next refresh', async () => {
      const [session, sharing] = [signedIn(), { ...signedIn(), cart: 'other' }];
      const found = await ask(source, request({ accessToken: token('old', true, refreshOf(session)) }, session));
      if (found.kind === 'token') found.adopt?.(visit({ appSession: sharing }, new EventEmitter()));
      expect(sharing).toEqual({ access_token: 'new', refresh_token: 'good', cart: 'other' });
      await ask(
        source,
        request({ accessToken: token('new', true, refreshOf(session, { access_token: 'newer' })) }, session),
      );
      expect(sharing).toEqual({ access_token: 'newer', refresh_token: 'good', cart: 'other' });
    });

    it('is not taken for another session without a refresh token of its own', async () => {
      const [session, other] = [{ access_token: 'old' }, { access_token: 'of somebody else' }];
      await underWay(other, new EventEmitter());
      await ask(source, visit({ oidc: { accessToken: token('opaque', false) } }, new EventEmitter()));
      await ask(source, request({ accessToken: token('old', true, refreshOf(session)) }, session));
      expect(other).toEqual({ access_token: 'of somebody else' });
    });

    it('is neither changed nor retained once its response has ended', async () => {
      const [session, response] = [signedIn(), new EventEmitter()];
      await underWay(session, response);
      await underWay(session, response);
      expect(response.listenerCount('close')).toBe(1);
      response.emit('close');
      await refreshElsewhere();
      expect(session).toEqual(signedIn());
    });
  });

  it('names a session by its refresh token, as its cookie changes with each response', () => {
    expect(source.sessionVersion?.(request({ refreshToken: 'r7' }))).toBe('r7');
    expect(source.sessionVersion?.(request({ refreshToken: undefined }))).toBeUndefined();
    expect(source.sessionVersion?.(visit({}))).toBeUndefined();
  });

  const answers: Readonly<Record<string, readonly [object, object]>> = {
    'nobody signed in': [{}, { kind: 'no-session' }],
    'no refresh token': [
      { accessToken: token('old', true), refreshToken: undefined },
      { kind: 'expired', log: 'the session has no refresh token' },
    ],
    'a spent refresh token': [
      { accessToken: token('old', true, rejects({ error: 'invalid_grant' })) },
      { kind: 'expired' },
    ],
    'the end of the session': [
      { accessToken: token('old', true, rejects({ code: 'ERR_SESSION_EXPIRED' })) },
      { kind: 'expired' },
    ],
    consent: [
      { accessToken: token('old', true, rejects({ error: 'consent_required' })) },
      { kind: 'expired', reason: 'interaction' },
    ],
  };
  it.each(Object.entries(answers))('maps %s to its outcome', async (_name, [facts, answer]) => {
    expect(await ask(source, request(facts))).toMatchObject(answer);
  });

  it.each([{ error: 'invalid_client', code: 'OAUTH_RESPONSE_BODY_ERROR' }, { code: 'ECONNREFUSED' }])(
    'throws when the provider is down or rejects the site: %j',
    async (facts) => {
      const asking = ask(source, request({ accessToken: token('old', true, rejects(facts)) }));
      await expect(asking).rejects.toThrow(
        new RegExp(
          String.raw`^express-openid-connect( \S+)? could not .*: Error ${facts.code}: with \[redacted\] inside$`,
        ),
      );
    },
  );
});
