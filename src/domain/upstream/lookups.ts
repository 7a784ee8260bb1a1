import type { Clock } from '../../ports/clock.js';
import { type Credential, isVaried, readerScope } from '../credentials/credential.js';
import { beforeDeadline } from '../shared/deadline.js';
import { UpstreamError } from '../shared/errors.js';
import { LruMap, type MapBounds } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { Counterpart } from './platform-error.js';

/** The parts of remembered look-ups. */
export interface LookupsDependencies extends MapBounds {
  readonly clock: Clock;
  /** Milliseconds for one look-up, whatever it takes. */
  readonly lookupMs: number;
  /** Creates a signal that is aborted after so many milliseconds. */
  readonly deadline: (ms: number) => AbortSignal;
  /** A one-way function without collisions. */
  readonly hash: (text: string) => string;
}

/** A result, the time for which it needs no other request, and its size. */
export interface Found<T> {
  readonly value: T;
  readonly lifeMs: number;
  readonly bytes: number;
}

/** One look-up for one caller. */
export interface LookupTask<T> {
  readonly counterpart: Counterpart;
  /** The thing that is looked up; `undefined` if the result must not be remembered. */
  readonly name: string | undefined;
  readonly credential: Credential;
  /** Sends the request; `last` is the result remembered from before. */
  readonly ask: (deadline: AbortSignal, last: T | undefined) => Promise<Found<T>>;
  /** A failure as a result to remember. Without it, failures are thrown, and not remembered. */
  readonly failed?: (error: unknown) => Found<T>;
  /** True if a result needs no other request. Default: until `until`. */
  readonly isFresh?: (value: T, until: number) => boolean;
  /** Called before a request; its error is this caller's alone. Absent if the caller may always ask. */
  readonly admit?: (() => Promise<void>) | undefined;
}

interface Kept<T> {
  readonly value: T;
  readonly until: number;
}

/** Remembers what platform and agent show a caller, and asks once for all callers who wait together (decisions 30, 83). */
export class Lookups<T> {
  readonly #deps: LookupsDependencies;
  readonly #kept: LruMap<Kept<T>>;
  /** For callers whose keys visitors can create at will: they evict only each other. */
  readonly #varied: LruMap<Kept<T>>;
  readonly #flights = new SingleFlight<T>();

  constructor(dependencies: LookupsDependencies) {
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#varied = new LruMap(dependencies);
  }

  /**
   * The result for one caller, remembered or new.
   *
   * @throws UpstreamError `upstream_timeout` when it does not come in time, and whatever `admit` and `ask` throw; unless `failed` handles it.
   */
  async get(task: LookupTask<T>): Promise<T> {
    const { name, credential, admit, isFresh } = task;
    if (name === undefined) return (await this.#ask(task, undefined)).value;
    const { clock, hash } = this.#deps;
    const key = hash(JSON.stringify([name, readerScope(credential)]));
    const kept = isVaried(credential) ? this.#varied : this.#kept;
    const last = kept.get(key);
    if (last !== undefined && (isFresh?.(last.value, last.until) ?? clock.now() < last.until)) return last.value;
    // Joining a running look-up costs the platform nothing.
    if (this.#flights.running(key) === undefined) await admit?.();
    return this.#flights.run(key, async () => {
      const { value, lifeMs, bytes } = await this.#ask(task, last?.value);
      kept.set(key, { value, until: clock.now() + lifeMs }, bytes);
      return value;
    });
  }

  async #ask({ counterpart, ask, failed }: LookupTask<T>, last: T | undefined): Promise<Found<T>> {
    // A deadline of its own: otherwise the first caller's timeout would fail everyone waiting.
    const deadline = this.#deps.deadline(this.#deps.lookupMs);
    try {
      return await within(deadline, counterpart, ask(deadline, last));
    } catch (error) {
      if (failed === undefined) throw error;
      return failed(error);
    }
  }
}

/**
 * The result of a look-up, as long as it comes before the deadline; whether the work heeds the deadline or not.
 *
 * @throws UpstreamError `upstream_timeout` when it does not come.
 */
export function within<T>(deadline: AbortSignal, { name }: Counterpart, work: Promise<T>): Promise<T> {
  const late = (): UpstreamError =>
    new UpstreamError('upstream_timeout', {
      detail: `The ${name} did not answer in time.`,
      retryable: true,
      log: `a look-up at the ${name} took longer than "lookupMs" allows`,
    });
  return beforeDeadline(deadline, work, late);
}
