import { FakeClock, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { KeyvStore, type KeyvLike } from '../../src/adapters/keyv/keyv-store.js';

export const CACHE_MS = 60;

/** A Keyv with scripted faults, which records its calls. */
class ScriptedKeyv implements KeyvLike {
  readonly entries = new Map<string, unknown>();
  readonly calls: string[] = [];
  readonly lives: number[] = [];
  /** Responds in place of the store, while it is set. */
  fault: (() => Promise<unknown>) | undefined;
  emit: (error: unknown) => void = () => {};

  on(_event: 'error', listener: (error: unknown) => void): void {
    this.emit = listener;
  }

  get(key: string): Promise<unknown> {
    return this.#answer(`get ${key}`, () => this.entries.get(key));
  }

  set(key: string, value: string, ttl: number): Promise<unknown> {
    this.lives.push(ttl);
    return this.#answer(`set ${key}`, () => this.entries.set(key, value) !== undefined);
  }

  delete(key: string): Promise<unknown> {
    return this.#answer(`delete ${key}`, () => this.entries.delete(key));
  }

  #answer(call: string, answer: () => unknown): Promise<unknown> {
    this.calls.push(call);
    return this.fault?.() ?? Promise.resolve(answer());
  }
}

/** A cache store over a scripted Keyv. */
export class World {
  readonly clock = new FakeClock();
  readonly telemetry = new RecordingTelemetry();
  readonly keyv = new ScriptedKeyv();
  readonly store = new KeyvStore({
    keyv: this.keyv,
    clock: this.clock,
    telemetry: this.telemetry,
    cacheMs: CACHE_MS,
  });

  set(key: string, value: string): Promise<void> {
    return this.store.set(key, value, this.clock.now() + 60_000);
  }

  get faults(): readonly string[] {
    return this.telemetry.of('cache_fault').map(({ operation, detail }) => `${operation}: ${detail}`);
  }
}

/** The error of a failed call. */
export const failed = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);

export const never = (): Promise<unknown> => new Promise(() => {});
export const refused = (): Promise<unknown> =>
  Promise.reject(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6379'), { code: 'ECONNREFUSED' }));
