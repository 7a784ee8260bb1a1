import { describe, expect, it } from 'vitest';
import { type FakeIdentityProvider, FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
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

  it('by 50 requests at once is replaced once', async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    const renewed = await Promise.all(
      Array.from({ length: 50 }, () => world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME)),
    );
    expect(new Set(renewed.map((credential) => credential?.token))).toEqual(new Set(['account-token-2']));
    expect(world.account.issued).toBe(2);
  });

  it('after a renewal by another request is replaced without a second one', async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    const again = await world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME);
    expect(again?.token).toBe('account-token-2');
    expect(world.account.issued).toBe(2);
  });

  it('directly after a renewal is not renewed again', async () => {
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

  it("that cannot be replaced returns the provider's failure", async () => {
    const world = new BrokerWorld();
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    world.account.answer = () => failure('unavailable');
    await expect(world.broker.renew(SERVICE, refused, REQUEST, SAME_TIME)).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
    });
  });

  it('causes its own provider alone to read its key again', async () => {
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

describe('tokens signed here under another platform clock', () => {
  /** A world whose provider signs by itself, and remembers the time it was given. */
  function signing(world: BrokerWorld): number[] {
    const times: number[] = [];
    const account: FakeIdentityProvider & { signsLocally?: boolean } = world.account;
    account.signsLocally = true;
    account.answer = (now) => {
      times.push(now);
      const value = `signed-${String(times.length)}`;
      return { kind: 'token', token: { value, expiresAt: now + 300_000 } };
    };
    return times;
  }

  async function refusedAt(world: BrokerWorld, platformAheadMs: number): Promise<void> {
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    const platformDate = new Date(world.clock.now() + platformAheadMs).toUTCString();
    await world.broker.renew(SERVICE, refused, REQUEST, platformDate);
  }

  it('have the time of a platform ten minutes ahead and are renewed by ours', async () => {
    const world = new BrokerWorld();
    const times = signing(world);
    const now = world.clock.now();
    await refusedAt(world, 600_000);
    expect(times).toEqual([now, now + 600_000]);
    expect(world.broker.cachedServiceToken()).toEqual({ value: 'signed-2', expiresAt: now + 300_000 });
    expect(world.telemetry.of('warning')).toEqual([
      { type: 'warning', code: 'clock_skew', detail: "The local clock is 600 s behind the platform's." },
    ]);
  });

  it('ignore a difference of half a minute', async () => {
    const world = new BrokerWorld();
    const times = signing(world);
    const now = world.clock.now();
    await refusedAt(world, 30_000);
    expect(times).toEqual([now, now]);
    expect(world.telemetry.of('warning')).toEqual([]);
  });

  it('ignore an invalid date', async () => {
    const world = new BrokerWorld();
    const times = signing(world);
    const refused = await world.broker.obtain(SERVICE, REQUEST);
    await world.broker.renew(SERVICE, refused, REQUEST, 'yesterday');
    expect(times).toEqual([world.clock.now(), world.clock.now()]);
  });

  it('return to our time when the clocks agree to half a minute', async () => {
    const world = new BrokerWorld();
    const times = signing(world);
    await refusedAt(world, 600_000);
    world.clock.advance(30_000);
    await refusedAt(world, 30_000);
    expect(times.at(-1)).toBe(world.clock.now());
  });

  it('keep our time for a provider that signs elsewhere', async () => {
    const world = new BrokerWorld();
    const times = signing(world);
    (world.account as FakeIdentityProvider & { signsLocally?: boolean }).signsLocally = false;
    await refusedAt(world, 600_000);
    expect(times).toEqual([world.clock.now(), world.clock.now()]);
  });

  it('pass on a failure to sign', async () => {
    const world = new BrokerWorld();
    signing(world);
    await refusedAt(world, 600_000);
    world.account.answer = () => failure('refused');
    world.clock.advance(300_000);
    await expect(world.broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({ code: 'service_auth_failed' });
  });
});
