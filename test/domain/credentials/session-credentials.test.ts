import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { userToken } from '../../../src/domain/credentials/session-credentials.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
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
      expect(error).toMatchObject({ code: 'identity_provider_unavailable', block: 'session' });
      expect(error.logDetail()).toContain(`the session returned a ${name} of type`);
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
    [{ kind: 'expired', detail: 'why' }, 'session_expired', 'The session has expired.', 'Sign in again.', 'why'],
    [
      { kind: 'expired', reason: 'interaction', detail: 'why' },
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

  it('is an outage when it cannot be read', async () => {
    const source = { getToken: () => Promise.reject(new TypeError('no store')) };
    const error = await errorOf(userToken({ source, nameOf, audience: '', exchange: undefined }, REQUEST));
    expect(error).toMatchObject({
      code: 'identity_provider_unavailable',
      detail: 'The session could not be read.',
      hint: 'Try again; the server log has the cause.',
      block: 'session',
      retryable: true,
    });
    expect(error.logDetail()).toBe('TypeError: no store');
    expect(inspect(error)).not.toContain('no store');
  });
});
