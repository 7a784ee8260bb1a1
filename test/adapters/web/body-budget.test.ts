import { describe, expect, it } from 'vitest';
import { BodyBudget, type BodyReservation } from '../../../src/adapters/web/request-body.js';
import type { RequestError } from '../../../src/domain/shared/errors.js';

const LARGE = 100_000;

/** A budget for three large bodies of 100,000 bytes with a reserve as large as one of them, and the bodies it cut. */
function world() {
  let now = 0;
  const cut: string[] = [];
  const budget = new BodyBudget({ limitBytes: 4 * LARGE, now: () => now });
  return {
    budget,
    cut,
    pass: (ms: number) => (now += ms),
    reads(name: string, ...counts: number[]): BodyReservation {
      const reservation = budget.open((error) => cut.push(`${name} ${error.code}`));
      for (const count of counts) budget.charge(reservation, count);
      return reservation;
    },
  };
}

function errorOf(task: () => unknown): RequestError | undefined {
  try {
    task();
  } catch (error) {
    return error as RequestError;
  }
  return undefined;
}

describe('the memory of request bodies', () => {
  it('counts received bytes and frees released ones once', () => {
    const { budget, reads } = world();
    const one = reads('one', 10, 20);
    const two = reads('two', LARGE);
    expect(budget.heldBytes).toBe(LARGE + 30);
    one.release();
    one.release();
    two.keep();
    expect(budget.heldBytes).toBe(LARGE);
    two.release();
    expect(budget.heldBytes).toBe(0);
  });

  it('cuts a stalled body when another needs its place, not the newcomer', () => {
    const { budget, cut, pass, reads } = world();
    reads('stalled', LARGE);
    pass(5_000);
    reads('second', LARGE);
    reads('third', LARGE);
    expect(cut).toEqual([]);
    reads('newcomer', 70_000);
    expect(cut).toEqual(['stalled body_timeout']);
    expect(budget.heldBytes).toBe(2 * LARGE + 70_000);
  });

  it('cuts the only stalled body for one that arrived at once', () => {
    const { budget, cut, reads } = world();
    for (const name of ['one', 'two']) reads(name, LARGE).keep();
    reads('stalled', LARGE);
    expect([budget.hold(LARGE).bytes, cut]).toEqual([LARGE, ['stalled body_timeout']]);
  });

  it('counts a dripping body as slow, however fast it began', () => {
    const { budget, cut, pass, reads } = world();
    const dripping = reads('dripping', LARGE);
    pass(20_000);
    reads('second', 90_000);
    reads('third', 90_000);
    budget.charge(dripping, 1);
    reads('newcomer', 70_000);
    expect(cut).toEqual(['dripping body_timeout']);
  });

  it.each([{ further: [] }, { further: [1] }])('counts a byte half after a second, %j', ({ further }) => {
    const { budget, cut, pass, reads } = world();
    const older = reads('older', 160_000);
    pass(1_000);
    for (const count of further) budget.charge(older, count);
    reads('second', 70_000);
    reads('newcomer', 75_000);
    expect(cut).toEqual(['second body_timeout']);
  });

  it('cuts the body that needs more when it is the slowest itself', () => {
    const { budget, cut, pass, reads } = world();
    const slow = reads('slow', LARGE);
    pass(10_000);
    reads('second', LARGE);
    reads('third', LARGE);
    expect(errorOf(() => budget.charge(slow, 1))).toMatchObject({
      code: 'body_timeout',
      message: 'The request body did not arrive in time. Send it again.',
      retryable: true,
    });
    expect([cut, budget.heldBytes]).toEqual([[], 2 * LARGE]);
  });

  it('keeps small bodies when large ones fill it', () => {
    const { cut, pass, reads } = world();
    reads('small', 1_000);
    pass(10_000);
    for (const name of ['one', 'two', 'three', 'four']) reads(name, LARGE);
    expect(cut).toEqual(['one body_timeout']);
  });

  it('admits small bodies when large ones fill it', () => {
    const { budget, reads } = world();
    for (const name of ['one', 'two', 'three']) reads(name, LARGE).keep();
    reads('small', 65_536).release();
    expect(budget.hold(65_536).bytes).toBe(65_536);
  });

  it('cuts the slowest small body when the reserve is full', () => {
    const { cut, pass, reads } = world();
    reads('without bytes', 0);
    reads('stalled', 50_000);
    pass(1_000);
    reads('newcomer', 50_001);
    expect(cut).toEqual(['stalled body_timeout']);
  });

  it('never cuts a complete body and rejects a further one when only such are held', () => {
    const { budget, cut, reads } = world();
    for (const name of ['one', 'two', 'three']) reads(name, LARGE).keep();
    expect(errorOf(() => reads('four', LARGE))).toMatchObject({
      code: 'server_busy',
      detail: 'The server holds too many request bodies.',
      retryAfterMs: 1_000,
    });
    expect(errorOf(() => budget.hold(LARGE))).toMatchObject({ code: 'server_busy' });
    expect([cut, budget.heldBytes]).toEqual([[], 3 * LARGE]);
  });

  it('holds two bodies of the largest size', () => {
    const { budget, cut, reads } = world();
    expect(errorOf(() => reads('huge', 4 * LARGE))).toMatchObject({ code: 'server_busy' });
    budget.admit(4 * LARGE);
    reads('one', 4 * LARGE);
    reads('two', 4 * LARGE);
    budget.admit(10);
    expect([cut, budget.heldBytes]).toEqual([[], 8 * LARGE]);
  });
});
