import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
import { BrokerWorld, REQUEST, SERVICE, sessionPlan } from './broker-fixture.js';
import { errorOf } from '../../support/error-of.js';

const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  7,
  {},
  ' blank',
  'blank ',
  'Basic dTpw',
  'xbearer token',
  'a\r\nx-api-key: mine',
  'a\nb',
  'a\u0000',
  'ключ',
  'a\u00e9',
];

describe('an unusual token', () => {
  it.each(ODD.map((value) => [value]))('%j from a session is rejected', async (accessToken) => {
    const world = new BrokerWorld();
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken } as SessionToken);
    // Even on a route with an optional session, because this session exists.
    const auth = { ...sessionPlan(source), required: false };
    const error = await errorOf(world.broker.obtain(auth, REQUEST));
    expect(error).toMatchObject({ code: 'internal_error', block: 'auth', retryable: false });
    expect(error.logDetail()).toContain('it returned no token in "accessToken": return its text');
  });

  it.each(['Bearer the-token', 'bearer  the-token'])(
    'with a scheme from a session is accepted without the scheme: %j',
    async (accessToken) => {
      const auth = sessionPlan(new FakeSessionTokenSource({ kind: 'token', accessToken }));
      const { headers } = await new BrokerWorld().broker.obtain(auth, REQUEST);
      expect(headers).toMatchObject({ authorization: 'Bearer the-token' });
    },
  );

  it.each(ODD.map((value) => [value]))('%j from a provider is rejected', async (value) => {
    const world = new BrokerWorld();
    world.account.answer = () => ({
      kind: 'token',
      token: { value: value as string, expiresAt: world.clock.now() + 300_000 },
    });
    await expect(world.broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({
      code: 'internal_error',
      block: 'identityProviders',
    });
    const detail = '"issue" of "service_account" returned no token in "token.value": return its text';
    expect(world.telemetry.of('token')).toMatchObject([
      { outcome: 'backoff', detail: expect.stringContaining(detail) as string },
    ]);
  });

  it.each([Number.NaN, undefined, 'soon'])('with the expiry %j is rejected', async (end) => {
    const world = new BrokerWorld();
    world.account.answer = () => ({ kind: 'token', token: { value: 'a', expiresAt: end as number } });
    for (let count = 0; count < 3; count += 1) {
      await expect(world.broker.obtain(SERVICE, REQUEST)).rejects.toThrow();
    }
    expect(world.account.issued).toBe(1);
  });
});

describe('the pause requested by a provider', () => {
  it.each([
    [59 * 60_000, 59 * 60_000],
    [31 * 365 * 86_400_000, 3_600_000],
    [Number.POSITIVE_INFINITY, 3_600_000],
    [Number.NaN, 250],
    [-1, 250],
  ])('of %d ms lasts %d ms', async (retryAfterMs, pause) => {
    const world = new BrokerWorld();
    const failure = { kind: 'failure', reason: 'unavailable', block: 'serviceAccount', fields: [] } as const;
    world.account.answer = () => ({ ...failure, advice: 'Wait.', log: '429', retryAfterMs });
    await expect(world.broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({ retryAfterMs: pause });
    world.clock.advance(pause - 1);
    await world.broker.obtain(SERVICE, REQUEST).catch(() => undefined);
    expect(world.account.issued).toBe(1);
    world.account.answer = undefined;
    world.clock.advance(1);
    expect((await world.broker.obtain(SERVICE, REQUEST)).headers['authorization']).toMatch(/^Bearer account-token-/);
  });
});
