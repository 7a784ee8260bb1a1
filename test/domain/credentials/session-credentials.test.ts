import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import {
  refreshedToken,
  sessionUser,
  UserNames,
  userToken,
} from '../../../src/domain/credentials/session-credentials.js';
import { SessionError } from '../../../src/domain/shared/errors.js';
import type { SessionToken, SessionTokenSource } from '../../../src/ports/session-token-source.js';
import { nameOf, REQUEST } from './broker-fixture.js';
import { ExchangeWorld } from './exchange-fixture.js';
import { errorOf } from '../../support/error-of.js';

async function exchanged(found: SessionToken, audience: string) {
  const world = new ExchangeWorld();
  const source = new FakeSessionTokenSource(found);
  await userToken({ source, nameOf, audience, exchange: world.tokens }, REQUEST);
  return { queries: source.queries, requests: world.exchange.requests };
}

describe("a user's exchanged token", () => {
  it("requests the session for this site and the exchange for the route's audience", async () => {
    const { queries, requests } = await exchanged({ kind: 'token', accessToken: 'ada' }, 'https://platform.example');
    expect(queries).toEqual([{}]);
    expect(requests).toMatchObject([{ assertion: 'ada', audience: 'https://platform.example' }]);
  });

  it('requests the exchange without an audience when the route has none', async () => {
    const { requests } = await exchanged({ kind: 'token', accessToken: 'ada' }, '');
    expect(requests).toHaveLength(1);
    expect(requests[0]).not.toHaveProperty('audience');
  });

  it('expires with the session', async () => {
    const world = new ExchangeWorld();
    const expiresAt = world.clock.now() + 60_000;
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada', expiresAt });
    const found = await userToken({ source, nameOf, audience: '', exchange: world.tokens }, REQUEST);
    expect(world.cache.peek(found?.cacheKey ?? '')?.expiresAt).toBe(expiresAt);
  });

  it('is not used after the session has expired', async () => {
    const world = new ExchangeWorld();
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada', expiresAt: world.clock.now() });
    await expect(userToken({ source, nameOf, audience: '', exchange: world.tokens }, REQUEST)).rejects.toMatchObject({
      code: 'session_expired',
    });
    expect(world.exchange.requests).toEqual([]);
  });
});

describe('the subject, issuer and tenant of a session', () => {
  const given = async (names: object) => {
    const session = { kind: 'token', accessToken: 'ada', ...names } as SessionToken;
    return userToken(
      { source: new FakeSessionTokenSource(session), nameOf, audience: '', exchange: undefined },
      REQUEST,
    );
  };

  it.each(['subject', 'issuer', 'tenant'])('fail the request when %s is not a string', async (name) => {
    for (const value of [{ id: 1 }, 7, true, ['ada']]) {
      const error = await errorOf(given({ [name]: value }));
      expect(error).toMatchObject({ code: 'internal_error', block: 'auth' });
      expect(error.logDetail()).toContain(`it returned a "${name}" of type`);
    }
  });

  it('are absent when empty', async () => {
    expect(await given({ subject: '', issuer: null, tenant: undefined })).toMatchObject({
      value: 'ada',
      name: undefined,
      tenant: undefined,
    });
    expect(await given({ subject: 'ada', tenant: 'acme' })).toMatchObject({ name: ['subject', 'ada'], tenant: 'acme' });
  });
});

describe('a session without a token', () => {
  it.each([
    [{ kind: 'expired' }, 'session_expired', 'The session has expired.', 'Sign in again.', 'the session has expired'],
    [{ kind: 'expired', log: 'why' }, 'session_expired', 'The session has expired.', 'Sign in again.', 'why'],
    [
      { kind: 'expired', reason: 'interaction', log: 'why' },
      'interaction_required',
      'The identity provider requires consent or a second factor.',
      'Sign in again and complete the steps of the identity provider.',
      'why',
    ],
  ] as const)("names the user's next step: %j", async (found, code, detail, hint, log) => {
    const source = new FakeSessionTokenSource(found);
    const error = await errorOf(userToken({ source, nameOf, audience: '', exchange: undefined }, REQUEST));
    expect(error).toMatchObject({ code, detail, hint });
    expect(error.logDetail()).toBe(log);
    expect(inspect(error)).not.toContain('why');
  });

  it.each([
    [new TypeError('no store'), 'TypeError: no store'],
    ['no store', 'string'],
  ])('is an outage when it cannot be read (%s)', async (thrown, log) => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const source = { getToken: () => Promise.reject(thrown) };
    const error = await errorOf(userToken({ source, nameOf, audience: '', exchange: undefined }, REQUEST));
    expect(error).toMatchObject({
      code: 'identity_provider_unavailable',
      detail: 'The session could not be read.',
      hint: 'Try again; the server log has the cause.',
      block: 'session',
      retryable: true,
    });
    expect(error.logDetail()).toBe(log);
    expect(inspect(error)).not.toContain('no store');
  });

  it('fails with the error of this package that its source throws', async () => {
    const thrown = new SessionError('session_required', { detail: 'No user.', hint: 'Sign in.' });
    const source = { getToken: () => Promise.reject(thrown) };
    expect(await errorOf(userToken({ source, nameOf, audience: '', exchange: undefined }, REQUEST))).toBe(thrown);
  });
});

it('a fault of our own while a token is refreshed is not logged as a rejected session', async () => {
  const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada' });
  const telemetry = new RecordingTelemetry();
  const broken = (): never => {
    throw new RangeError('a bug');
  };
  const auth = { source, nameOf: broken, audience: '', exchange: undefined };
  await expect(refreshedToken(auth, REQUEST, telemetry)).rejects.toThrow(RangeError);
  expect(telemetry.events).toEqual([]);
});

describe('the signed-in user', () => {
  const ADA = { subject: 'ada', issuer: 'https://idp.example', tenant: 'acme' };

  it.each<[SessionToken, object | undefined]>([
    [{ kind: 'no-session' }, undefined],
    [{ kind: 'expired' }, undefined],
    [
      { kind: 'token', accessToken: 't' },
      { user: {}, name: undefined },
    ],
    [
      { kind: 'token', accessToken: 't', subject: 'ada', issuer: '' },
      { user: { subject: 'ada' }, name: 'ada' },
    ],
    [
      { kind: 'token', accessToken: 't', ...ADA },
      { user: ADA, name: 'ada' },
    ],
  ])('of %j is %j', async (found, user) => {
    const source = new FakeSessionTokenSource(found);
    const auth = { source, nameOf: ({ subject }: { subject?: string }) => subject as never, audience: 'api' };
    expect(await sessionUser({ ...auth, exchange: undefined }, REQUEST)).toStrictEqual(user);
    expect(source.queries).toEqual([{ audience: 'api' }]);
  });
});

// "one/1/idp" is a token of the source "one" with the subject "1" and the issuer "idp".
describe('the name of a user', () => {
  it.each([
    ['is its subject in the only unnamed source', 'one staff', 'one/1', 'subject/1', 0],
    ['has the name of its source', 'one staff', 'staff/1', 'source/staff/1', 0],
    ['has the issuer rather than its source', 'one staff', 'staff/1/idp', 'issuer/idp/1', 0],
    ['is absent without a subject', 'one two', 'one//idp', '-', 0],
    ['is absent while another source may have the same', 'one two', 'one/1 one/1', '- -', 1],
    ['is absent once another source had a bare subject', 'one two', 'two/1 two/1/idp one/1', '- issuer/idp/1 -', 1],
    ['is its subject beside a source with issuers', 'one two', 'two/1/idp one/1', 'issuer/idp/1 subject/1', 0],
    ['is absent once an issuer is missing there', 'one two', 'two/1/idp two/1 one/1', 'issuer/idp/1 - -', 1],
    ['is its subject beside a source without subjects', 'one two', 'two one/1', '- subject/1', 0],
    ['is its subject in a source that caches no data', 'one', 'two/1', 'subject/1', 0],
    ['takes an empty name or issuer as none', 'one empty', 'empty/1/ one/1', '- -', 1],
  ])('%s', (_what, listed, visits, names, warnings) => {
    const telemetry = new RecordingTelemetry();
    const getToken = (): Promise<SessionToken> => Promise.resolve({ kind: 'no-session' });
    const all = {
      one: { getToken },
      two: { getToken },
      empty: { getToken, name: '' },
      staff: { getToken, name: 'staff' },
    };
    const sourceOf = (key = ''): SessionTokenSource => all[key as keyof typeof all];
    const users = new UserNames({ sources: () => listed.split(' ').map(sourceOf), telemetry });
    const found = visits.split(' ').map((visit) => {
      const [key, subject, issuer] = visit.split('/');
      const given = { ...(subject !== undefined && { subject }), ...(issuer !== undefined && { issuer }) };
      return users.nameOf(sourceOf(key), { kind: 'token', accessToken: 't', ...given })?.join('/');
    });
    expect(found.map((name) => name ?? '-').join(' ')).toBe(names);
    const detail: unknown = expect.stringContaining('Set a "name" for each source');
    const warning = { type: 'warning', code: 'session_source_unnamed', detail };
    expect(telemetry.events).toEqual(Array(warnings).fill(warning));
  });
});
