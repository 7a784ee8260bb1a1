import { describe, expect, it } from 'vitest';
import { BrokerWorld, REQUEST, SERVICE } from './broker-fixture.js';
import { failure } from './token-fixture.js';

const HOUR_MS = 3_600_000;

/** A broker whose provider signs its own tokens, and a platform that rejects them with its own time. */
class SigningWorld extends BrokerWorld {
  /** The times that the provider was given, oldest first. */
  readonly signedAt: number[] = [];

  constructor(signsLocally = true) {
    super();
    Object.assign(this.account, { signsLocally });
    this.account.answer = (now) => {
      this.signedAt.push(now);
      return { kind: 'token', token: { value: `signed-${String(this.signedAt.length)}`, expiresAt: now + 300_000 } };
    };
  }

  /** Rejects the current token with this date; by default, that of a platform whose clock is ahead. */
  async refused(aheadMs: number, date = new Date(this.clock.now() + aheadMs).toUTCString()): Promise<void> {
    const refused = await this.broker.obtain(SERVICE, REQUEST);
    await this.broker.renew(SERVICE, refused, REQUEST, date);
    await this.broker.renew(SERVICE, refused, REQUEST, date);
  }

  /** The lead of the last signature over the local time, in milliseconds. */
  get aheadMs(): number {
    return (this.signedAt.at(-1) ?? 0) - this.clock.now();
  }

  get details(): (string | undefined)[] {
    return this.telemetry.of('warning').map(({ detail }) => detail);
  }
}

describe("the platform's clock", () => {
  it.each([HOUR_MS, -HOUR_MS, 60_000])('is followed and logged once when it is %d ms away', async (ms) => {
    const world = new SigningWorld();
    await world.refused(ms);
    expect([world.aheadMs, world.details.length]).toEqual([ms, 1]);
  });

  it.each([HOUR_MS + 1_000, -HOUR_MS - 1_000, 20 * 365 * 24 * HOUR_MS])(
    'is logged once and not followed when it is %d ms away',
    async (ms) => {
      const world = new SigningWorld();
      await world.refused(ms);
      expect([world.aheadMs, world.details.length]).toEqual([0, 1]);
    },
  );

  it.each<[string, SigningWorld, number, string?]>([
    ['differs by half a minute', new SigningWorld(), 30_000],
    ['is not a date', new SigningWorld(), 0, 'yesterday'],
  ])('is neither followed nor logged when it %s', async (_what, world, aheadMs, date) => {
    await world.refused(aheadMs, date);
    expect([world.signedAt.length, world.aheadMs, world.details]).toEqual([2, 0, []]);
  });

  it('is logged and not followed when the provider signs elsewhere', async () => {
    const world = new SigningWorld(false);
    await world.refused(600_000);
    expect([world.signedAt.length, world.aheadMs]).toEqual([2, 0]);
  });

  it('is used to date a token, whose renewal follows the local clock', async () => {
    const world = new SigningWorld();
    await world.refused(600_000);
    expect(world.broker.cachedServiceToken()).toEqual({ value: 'signed-2', expiresAt: world.clock.now() + 300_000 });
    expect(world.telemetry.of('warning')).toEqual([
      { type: 'warning', code: 'clock_skew', detail: "The local clock is 600 s behind the platform's." },
    ]);
  });

  it('is followed ahead, behind and back, with one event per change', async () => {
    const world = new SigningWorld();
    const signed: number[] = [];
    for (const aheadMs of [600_000, 600_000, -600_000, 30_000]) {
      await world.refused(aheadMs);
      signed.push(world.aheadMs);
      world.clock.advance(60_000);
    }
    expect(signed).toEqual([600_000, 600_000, -600_000, 0]);
    expect(world.details).toEqual([
      "The local clock is 600 s behind the platform's.",
      "The local clock is 600 s ahead of the platform's.",
      "The local clock agrees with the platform's again.",
    ]);
  });

  it('does not hide a failure to sign', async () => {
    const world = new SigningWorld();
    await world.refused(600_000);
    world.account.answer = () => failure('refused');
    world.clock.advance(300_000);
    await expect(world.broker.obtain(SERVICE, REQUEST)).rejects.toMatchObject({ code: 'service_auth_failed' });
  });
});
