import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UpstreamBody } from '../../src/adapters/undici/upstream-body.js';

/** Enough to make a body pause its platform. */
const FULL = new Uint8Array(65_536);

class Controller {
  paused = false;
  aborted: string | undefined;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
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
  const made = new UpstreamBody(controller as unknown as Dispatcher.DispatchController, idleMs, totalMs);
  made.watch();
  return made;
};

describe('the time a platform has for a whole answer', () => {
  it('goes on where it stood when a slow reader comes back', async () => {
    const slow = body(0, 1_000);
    vi.advanceTimersByTime(600);
    slow.push(FULL);
    expect(controller.paused).toBe(true);
    vi.advanceTimersByTime(60_000);
    await slow.next();
    expect(controller.paused).toBe(false);
    vi.advanceTimersByTime(399);
    expect(controller.aborted).toBeUndefined();
    vi.advanceTimersByTime(2);
    expect(controller.aborted).toContain('too long for its whole answer');
  });

  it('is over at once for one that drips in time', () => {
    const dripping = body(100, 1_000);
    for (let count = 0; count < 20; count += 1) {
      vi.advanceTimersByTime(60);
      dripping.push(new Uint8Array(1));
    }
    expect(controller.aborted).toContain('too long for its whole answer');
  });

  it('does not matter once the answer is there, or broken', () => {
    body(100, 100).end();
    body(100, 100).fail(new Error('reset'));
    vi.advanceTimersByTime(1_000);
    expect(controller.aborted).toBeUndefined();
  });
});
