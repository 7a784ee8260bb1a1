import type { Clock } from '../../ports/clock.js';
import { type Credential, isVaried, readerScope } from '../credentials/credential.js';
import { beforeDeadline } from '../shared/deadline.js';
import { UpstreamError } from '../shared/errors.js';
import { LruMap, type MapBounds } from '../shared/lru-map.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { Counterpart } from './platform-error.js';

export interface LookupsDependencies extends MapBounds {
  readonly clock: Clock;
  /** Milliseconds for one look-up in total. */
  readonly lookupMs: number;
  /** Creates a signal that is aborted after a delay. */
  readonly deadline: (ms: number) => AbortSignal;
  /** A collision-resistant one-way hash. */
  readonly hash: (text: string) => string;
}

/** A result, the milliseconds for which it is fresh, and its size. */
export interface Found<T> {
  readonly value: T;
  readonly lifeMs: number;
  readonly bytes: number;
}

/** One look-up for one caller. */
export interface LookupTask<T> {
  readonly counterpart: Counterpart;
  /** The name of the look-up; `undefined` if the result must not be cached. */
  readonly name: string | undefined;
  readonly credential: Credential;
  /** Sends the request; `last` is the cached result. */
  readonly ask: (deadline: AbortSignal, last: T | undefined) => Promise<Found<T>>;
  /** Converts a failure to a result to cache. If absent, failures are thrown and not cached. */
  readonly failed?: (error: unknown) => Found<T>;
  /** True if a result is fresh. Default: until `until`. */
  readonly isFresh?: (value: T, until: number) => boolean;
  /** Called before a request; its error is for this caller only. Absent if the caller may always send one. */
  readonly admit?: (() => Promise<void>) | undefined;
}

interface Kept<T> {
  readonly value: T;
  readonly until: number;
}

/** Caches what platform and agent return for a caller, and sends one request for all callers who wait together (decisions 30, 83). */
export class Lookups<T> {
  readonly #deps: LookupsDependencies;
  readonly #kept: LruMap<Kept<T>>;
  /** For callers whose keys visitors can create at will: they only evict each other. */
  readonly #varied: LruMap<Kept<T>>;
  readonly #flights = new SingleFlight<T>();

  constructor(dependencies: LookupsDependencies) {
    this.#deps = dependencies;
    this.#kept = new LruMap(dependencies);
    this.#varied = new LruMap(dependencies);
  }

  /**
   * The result for one caller, cached or new.
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
    // Joining a running look-up causes no request.
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
 * The result of a look-up if it arrives before the deadline, even if the work ignores the deadline.
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
