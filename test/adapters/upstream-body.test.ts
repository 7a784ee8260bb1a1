import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HIGH_WATER_BYTES, type BodyControl, UpstreamBody } from '../../src/adapters/undici/upstream-body.js';

/** Enough to make a body pause its platform. */
const FULL = new Uint8Array(HIGH_WATER_BYTES);

class Controller implements BodyControl {
  paused = false;
  aborted: string | undefined;
  hold(bytes: number): boolean {
    return (this.paused = bytes >= HIGH_WATER_BYTES);
  }
  abort(reason: Error): void {
    this.aborted ??= reason.message;
  }
}

let controller: Controller;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  controller = new Controller();
});
afterEach(() => {
  vi.useRealTimers();
});

const body = (idleMs: number, totalMs: number): UpstreamBody => {
  const made = new UpstreamBody(controller, idleMs, totalMs);
  made.watch();
  return made;
};

describe('the deadline of a whole response', () => {
  it('resumes where it stood when a slow reader returns', async () => {
    vi.advanceTimersByTime(5_000);
    const slow = body(0, 1_000);
    vi.advanceTimersByTime(600);
    slow.push(FULL);
    expect(controller.paused).toBe(true);
    vi.advanceTimersByTime(60_000);
    await slow[Symbol.asyncIterator]().next();
    expect(controller.paused).toBe(false);
    vi.advanceTimersByTime(399);
    expect(controller.aborted).toBeUndefined();
    vi.advanceTimersByTime(2);
    expect(controller.aborted).toContain('too long for its whole response');
  });

  it('has no effect after the end of the response, or while it is paused', () => {
    for (const stop of [
      (one: UpstreamBody) => one.end(),
      (one: UpstreamBody) => one.fail(new Error('reset')),
      (one: UpstreamBody) => one.push(FULL),
    ]) {
      const stopped = body(100, 100);
      stop(stopped);
      stopped.watch();
    }
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toBeUndefined();
  });
});

describe('a response that has arrived', () => {
  it('is whole if it came in one piece and has ended', () => {
    const [one, two] = [body(0, 0), body(0, 0)];
    one.push(Uint8Array.of(1));
    for (const piece of [1, 2]) two.push(Uint8Array.of(piece));
    expect(one.whole()).toBeUndefined();
    one.end();
    two.end();
    expect([one.whole(), two.whole()]).toEqual([Uint8Array.of(1), undefined]);
  });

  it.each(['ended', 'broken'])('and has %s is not aborted by its reader or a deadline', async (how) => {
    const over = body(100, 100);
    over.push(Uint8Array.of(1));
    if (how === 'ended') over.end();
    over.fail(new Error('reset'));
    expect(await readAll(over)).toEqual(how === 'ended' ? [1, 'ended'] : [1, 'reset']);
    await over.return();
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toBeUndefined();
  });
});

/** The bytes, then the outcome. */
async function readAll(one: UpstreamBody): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const chunk of one) seen.push(...chunk);
    return [...seen, 'ended'];
  } catch (error) {
    return [...seen, (error as Error).message];
  }
}

describe('a response that is read', () => {
  it.each(['ended', 'reset'])('while it arrives yields its chunks in order, then that it has %s', async (how) => {
    const arriving = body(0, 0);
    const read = readAll(arriving);
    for (const piece of [1, 2, 3]) {
      arriving.push(Uint8Array.of(piece));
      if (piece === 1) await Promise.resolve();
    }
    if (how === 'ended') arriving.end();
    else arriving.fail(new Error(how));
    expect(await read).toEqual([1, 2, 3, how]);
  });

  it('pauses the platform while its reader is slow, without counting that as silence', async () => {
    const slow = body(1_000, 0);
    const first = slow.next();
    slow.push(FULL);
    expect(await first).toMatchObject({ done: false });
    expect(controller.paused).toBe(false);
    slow.push(FULL);
    slow.push(FULL);
    expect(controller.paused).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(controller.aborted).toBeUndefined();
    await slow.next();
    expect(controller.paused).toBe(true);
    await slow.next();
    expect(controller.paused).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toContain('was silent');
  });

  it('hands over short chunks that wait in one piece, and long ones as they are', async () => {
    const waiting = body(0, 0);
    const long = new Uint8Array(20_000);
    for (const piece of [1, 2, 3]) waiting.push(Uint8Array.of(piece));
    waiting.push(long);
    expect(Array.from((await waiting.next()).value ?? [])).toEqual([1, 2, 3]);
    expect((await waiting.next()).value).toBe(long);
  });

  it('ends its request when its reader stops, and the pending read with it', async () => {
    const left = body(0, 0);
    const pending = left.next();
    await left.return();
    left.push(Uint8Array.of(1));
    left.fail(new Error('aborted'));
    const done = { done: true, value: undefined };
    expect([await pending, await left.next(), left.whole()]).toEqual([done, done, undefined]);
    expect(controller.aborted).toBe('the reader stopped');
  });

  it('keeps all chunks in order, however its reader reads', async () => {
    const steps = fc.array(fc.constantFrom('push', 'read', 'turn'), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, async (what) => {
        const arriving = body(0, 0);
        const taken: number[] = [];
        let pushed = 0;
        let pending: Promise<unknown> | undefined;
        for (const step of what) {
          if (step === 'push') arriving.push(Uint8Array.of((pushed += 1)));
          else if (step === 'turn') await Promise.resolve();
          else pending ??= arriving.next().then(({ value }) => (taken.push(...(value ?? [])), (pending = undefined)));
        }
        arriving.end();
        await pending;
        expect([...taken, ...(await readAll(arriving))]).toEqual([
          ...Array.from({ length: pushed }, (_, index) => index + 1),
          'ended',
        ]);
      }),
    );
  });
});
