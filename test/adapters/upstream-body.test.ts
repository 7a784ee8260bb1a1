import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HIGH_WATER_BYTES, type BodyControl, UpstreamBody } from '../../src/adapters/undici/upstream-body.js';
import type { BodySink } from '../../src/domain/shared/body.js';

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

  it.each(['ended', 'broken'])('and has %s is not aborted by its reader or a deadline', (how) => {
    const over = body(100, 100);
    over.push(Uint8Array.of(1));
    const sink = new Sink();
    over.flowTo(sink);
    if (how === 'ended') over.end();
    over.fail(new Error('reset'));
    expect(sink.outcome).toEqual(how === 'ended' ? 'ended' : new Error('reset'));
    over.cancel();
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toBeUndefined();
  });
});

/** Accepts so many chunks, then pauses its body until it has room again. */
class Sink implements BodySink {
  readonly taken: number[] = [];
  outcome: unknown = 'open';
  room = Infinity;
  write(chunk: Uint8Array): boolean {
    this.taken.push(chunk[0] ?? -1);
    this.room -= 1;
    return this.room > 0;
  }
  end(): void {
    this.outcome = 'ended';
  }
  fail(error: unknown): void {
    this.outcome = error;
  }
}

describe('a response that flows', () => {
  it.each(['ended', 'broken'] as const)('that has %s already reports it after its chunks', (how) => {
    const flowing = body(0, 0);
    const sink = new Sink();
    const error = new Error('reset');
    flowing.push(Uint8Array.of(1));
    if (how === 'ended') flowing.end();
    else flowing.fail(error);
    sink.room = 1;
    flowing.flowTo(sink);
    expect([sink.taken, sink.outcome]).toEqual([[1], 'open']);
    flowing.flowTo(sink);
    expect(sink.outcome).toBe(how === 'ended' ? 'ended' : error);
    sink.outcome = 'open';
    flowing.flowTo(sink);
    expect(sink.outcome).toBe('open');
  });

  it.each(['ended', 'broken'] as const)('that has %s while its sink was full reports it after its chunks', (how) => {
    const flowing = body(0, 0);
    const sink = new Sink();
    const error = new Error('reset');
    sink.room = 1;
    flowing.flowTo(sink);
    for (const piece of [1, 2]) flowing.push(Uint8Array.of(piece));
    if (how === 'ended') flowing.end();
    else flowing.fail(error);
    expect([sink.taken, sink.outcome]).toEqual([[1], 'open']);
    sink.room = Infinity;
    flowing.flowTo(sink);
    expect([sink.taken, sink.outcome]).toEqual([[1, 2], how === 'ended' ? 'ended' : error]);
  });

  it('that its sink abandons with a chunk reports no end', () => {
    const flowing = body(0, 0);
    const sink = new Sink();
    sink.write = () => {
      flowing.cancel();
      return true;
    };
    flowing.push(Uint8Array.of(1));
    flowing.flowTo(sink);
    expect([sink.outcome, controller.aborted]).toEqual(['open', 'the reader stopped']);
  });

  it('pauses the platform while its sink is full, without counting that as silence', () => {
    const flowing = body(1_000, 0);
    const sink = new Sink();
    sink.room = 1;
    flowing.flowTo(sink);
    flowing.push(FULL);
    expect(controller.paused).toBe(false);
    flowing.push(FULL);
    flowing.push(FULL);
    expect(controller.paused).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(controller.aborted).toBeUndefined();
    sink.room = 1;
    flowing.flowTo(sink);
    expect([sink.taken.length, controller.paused]).toEqual([2, true]);
    sink.room = Infinity;
    flowing.flowTo(sink);
    expect([sink.taken.length, controller.paused]).toEqual([3, false]);
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toContain('was silent');
  });

  it('ends its request when abandoned, without a further report', () => {
    const flowing = body(0, 0);
    const sink = new Sink();
    flowing.flowTo(sink);
    flowing.cancel();
    flowing.push(Uint8Array.of(1));
    flowing.fail(new Error('aborted'));
    expect([sink.taken, sink.outcome, flowing.whole()]).toEqual([[], 'open', undefined]);
    expect(controller.aborted).toBe('the reader stopped');
  });

  it('keeps all chunks in order, however its sink reads', () => {
    const step = fc.oneof(fc.constant('push'), fc.nat({ max: 3 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat({ max: 40 }), (steps, flowsAt) => {
        const flowing = body(0, 0);
        const sink = new Sink();
        let pushed = 0;
        for (const [index, what] of steps.entries()) {
          if (index === flowsAt) flowing.flowTo(sink);
          if (what === 'push') {
            flowing.push(Uint8Array.of(pushed));
            pushed += 1;
          } else if (index > flowsAt) {
            sink.room = what;
            flowing.flowTo(sink);
          }
        }
        sink.room = Infinity;
        if (flowsAt >= steps.length) flowing.flowTo(sink);
        else flowing.flowTo(sink);
        flowing.end();
        expect(sink.taken).toEqual(Array.from({ length: pushed }, (_, index) => index));
        expect(sink.outcome).toBe('ended');
      }),
    );
  });
});
