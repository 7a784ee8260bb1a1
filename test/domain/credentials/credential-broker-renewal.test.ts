import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { BrokerWorld, REQUEST, SERVICE, sessionPlan } from './broker-fixture.js';
import { failure } from './token-fixture.js';

const SAME_TIME = '';

describe('a credential rejected by the platform', () => {
  it('is replaced by a fresh one', async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    const renewed = await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    expect(renewed?.headers['authorization']).toBe('Bearer account-token-2');
  });

  it('is replaced once for 50 concurrent requests', async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    const renewed = await Promise.all(
      Array.from({ length: 50 }, () => world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME)),
    );
    expect(new Set(renewed.map((credential) => credential?.token))).toEqual(new Set(['account-token-2']));
    expect(world.account.issued).toBe(2);
  });

  it('is replaced by the token another request has renewed', async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    const again = await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    expect(again?.token).toBe('account-token-2');
    expect(world.account.issued).toBe(2);
  });

  it('is not renewed again directly after a renewal', async () => {
    const world = new BrokerWorld();
    const first = await world.broker.obtain(SERVICE, REQUEST);
    const second = await world.broker.renew(SERVICE, first, REQUEST, SAME_TIME);
    if (second === undefined) throw new Error('not renewed');
    expect(await world.broker.renew(SERVICE, second, REQUEST, SAME_TIME)).toBeUndefined();
    expect(world.account.issued).toBe(2);
  });

  it('is not sent again when the provider returns the same token', async () => {
    const world = new BrokerWorld();
    const token = { value: 'always', expiresAt: world.clock.now() + 300_000 };
    world.account.answer = () => ({ kind: 'token', token });
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    expect(await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME)).toBeUndefined();
  });

  it("fails with the provider's failure when it cannot be replaced", async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    world.account.answer = () => failure('unavailable');
    await expect(world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME)).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
    });
  });

  it('makes only its own provider reload the private key', async () => {
    const world = new BrokerWorld();
    const rechecked: string[] = [];
    Object.assign(world.account, { recheck: () => rechecked.push('account') });
    Object.assign(world.password, { recheck: () => rechecked.push('password') });
    await world.broker.obtain({ ...SERVICE, strategy: 'resource_owner_password' }, REQUEST);
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    expect(rechecked).toEqual(['account']);
  });

  it('is not replaced for an API key, or without a new session token', async () => {
    const source = new FakeSessionTokenSource({ kind: 'token', accessToken: 'ada-token' });
    const session = sessionPlan(source);
    const world = new BrokerWorld();
    expect(
      await world.broker.renew(session, await world.broker.obtain(session, REQUEST), REQUEST, SAME_TIME),
    ).toBeUndefined();
    const keyed = new BrokerWorld({ strategy: '', hasServiceAccount: false });
    expect(
      await keyed.broker.renew(SERVICE, await keyed.broker.obtain(SERVICE, REQUEST), REQUEST, SAME_TIME),
    ).toBeUndefined();
    expect(source.queries).toEqual([{}, { forceRefresh: true }]);
  });
});
