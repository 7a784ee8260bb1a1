import { setImmediate } from 'node:timers/promises';
import { FakeClock } from '../../src/adapters/fakes/fakes.js';

/** A fake clock with timers, which fire when a test lets time pass. */
export class VirtualTime extends FakeClock {
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();

  /** Resolves after this time. */
  readonly sleep = (ms: number): Promise<void> =>
    new Promise((fire) => {
      this.#timers.add({ at: this.now() + ms, fire });
    });

  /** Number of timers that have not fired. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Advances the time, firing each timer when it is due. */
  async pass(ms: number): Promise<void> {
    const end = this.now() + ms;
    while (await this.#fireNext(end));
    this.advance(end - this.now());
  }

  /** The result of this work, after as much time as it needs. Not together with `pass`. */
  async result<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    work.then(end, end);
    await setImmediate();
    while (!isDone && this.#timers.size > 0) {
      await settled();
      if (!isDone) await this.#fireNext(Infinity);
    }
    return work;
  }

  async #fireNext(end: number): Promise<boolean> {
    await settled();
    const next = Math.min(...[...this.#timers].map(({ at }) => at));
    if (next === Infinity || next > end) return false;
    this.advance(Math.max(0, next - this.now()));
    for (const timer of this.#timers) {
      if (timer.at > next) continue;
      this.#timers.delete(timer);
      timer.fire();
    }
    await settled();
    return true;
  }
}

/** Everything that does not wait for time happens within a few turns of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await setImmediate();
}
