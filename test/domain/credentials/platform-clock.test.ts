import { describe, expect, it } from 'vitest';
import { BrokerWorld, REQUEST, SERVICE } from './broker-fixture.js';

const HOUR_MS = 3_600_000;

/** The offset of the time used for signing, after the platform rejected a token and sent its own time. */
async function signedAhead(platformAheadMs: number): Promise<{ aheadMs: number; warnings: number }> {
  const world = new BrokerWorld();
  const signedAt: number[] = [];
  Object.assign(world.account, { signsLocally: true });
  world.account.answer = (now) => {
    signedAt.push(now);
    return { kind: 'token', token: { value: `token-${String(signedAt.length)}`, expiresAt: now + 300_000 } };
  };
  const refused = await world.broker.obtain(SERVICE, REQUEST);
  const date = new Date(world.clock.now() + platformAheadMs).toUTCString();
  await world.broker.renew(SERVICE, refused, REQUEST, date);
  await world.broker.renew(SERVICE, refused, REQUEST, date);
  const aheadMs = (signedAt[1] ?? 0) - world.clock.now();
  return { aheadMs, warnings: world.telemetry.of('warning').length };
}

describe("the platform's clock", () => {
  it.each([HOUR_MS, -HOUR_MS, 60_000])('is followed when it is %d ms away', async (ms) => {
    expect(await signedAhead(ms)).toEqual({ aheadMs: ms, warnings: 1 });
  });

  it.each([HOUR_MS + 1_000, -HOUR_MS - 1_000, 20 * 365 * 24 * HOUR_MS])(
    'is logged once and not followed when it is %d ms away',
    async (ms) => {
      expect(await signedAhead(ms)).toEqual({ aheadMs: 0, warnings: 1 });
    },
  );
});
