import type { Clock } from '../../ports/clock.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';
import { type Credential, readerScope } from '../credentials/credential.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { withTimeout } from '../shared/deadline.js';
import { UpstreamError } from '../shared/errors.js';
import { SingleFlight } from '../shared/single-flight.js';
import type { Counterpart } from './platform-error.js';

export interface LookupsDependencies {
  readonly clock: Clock;
  /** Holds the results. */
  readonly memory: Memory;
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
  /** The route if its result is the same for all its users; a failure never is. */
  readonly sharedBy?: RouteAuth['sharesLookups'];
  /** Sends the request; `last` is the cached result. */
  readonly ask: (deadline: AbortSignal, last: T | undefined) => Promise<Found<T>>;
  /** Converts a failure to a result to cache. If absent, failures are thrown and not cached. */
  readonly failed?: ((error: unknown) => Found<T>) | undefined;
  /** True if a result is fresh. Default: until `until`. */
  readonly isFresh?: (value: T, until: number) => boolean;
  /** Called before a request; its error is for this caller only. Absent if the caller may always send one. */
  readonly admit?: (() => Promise<void>) | undefined;
}

/** Milliseconds for which an outdated result is kept for a conditional request. */
const OUTDATED_MS = 300_000;

interface Kept<T> {
  readonly value: T;
  readonly until: number;
}

/** Caches what platform and agent return for a caller, and sends one request for all callers who wait together (decisions 30, 83). */
export class Lookups<T> {
  readonly #deps: LookupsDependencies;
  readonly #results: MemoryMap<Kept<T>>;
  readonly #flights = new SingleFlight<T>();

  constructor(dependencies: LookupsDependencies) {
    this.#deps = dependencies;
    this.#results = dependencies.memory.map();
  }

  /**
   * The result for one caller, cached or new.
   *
   * @throws UpstreamError `upstream_timeout` when it does not arrive in time, and any error of `admit` and `ask`, unless `failed` handles it.
   */
  async get(task: LookupTask<T>): Promise<T> {
    const { name, credential, sharedBy } = task;
    if (name === undefined) return (await this.#ask(task, undefined)).value;
    const own = this.#key(name, readerScope(credential));
    if (sharedBy === undefined || this.#fresh(task, own) !== undefined) return this.#cached(task, own);
    let isMine = false;
    const ask: typeof task.ask = (deadline, last) => {
      isMine = true;
      return task.ask(deadline, last);
    };
    try {
      return await this.#cached(
        { ...task, ask, failed: undefined },
        this.#key(name, readerScope(credential, sharedBy)),
      );
    } catch (error) {
      // The platform may refuse this user alone.
      return this.#cached(isMine ? { ...task, ask: () => Promise.reject(error as Error) } : task, own);
    }
  }

  #key(name: string, scope: string): string {
    return this.#deps.hash(JSON.stringify([name, scope]));
  }

  #fresh(task: LookupTask<T>, key: string): Kept<T> | undefined {
    const last = this.#results.get(key);
    if (last === undefined) return undefined;
    return (task.isFresh?.(last.value, last.until) ?? this.#deps.clock.now() < last.until) ? last : undefined;
  }

  async #cached(task: LookupTask<T>, key: string): Promise<T> {
    const { admit } = task;
    const fresh = this.#fresh(task, key);
    if (fresh !== undefined) return fresh.value;
    // Joining a running look-up causes no request.
    if (this.#flights.running(key) === undefined) await admit?.();
    return this.#flights.run(key, async () => {
      const { value, lifeMs, bytes } = await this.#ask(task, this.#results.get(key)?.value);
      const until = this.#deps.clock.now() + lifeMs;
      // At most two bytes a character.
      this.#results.set(key, { value, until }, 2 * bytes, until + OUTDATED_MS);
      return value;
    });
  }

  async #ask({ counterpart, ask, failed }: LookupTask<T>, last: T | undefined): Promise<Found<T>> {
    // A deadline of its own: otherwise the first caller's timeout would fail everyone waiting.
    const deadline = this.#deps.deadline(this.#deps.lookupMs);
    try {
      return await withTimeout(deadline, ask(deadline, last));
    } catch (thrown) {
      const error = deadline.aborted && thrown === deadline.reason ? late(counterpart) : thrown;
      if (failed === undefined) throw error;
      return failed(error);
    }
  }
}

function late({ name }: Counterpart): UpstreamError {
  return new UpstreamError('upstream_timeout', {
    detail: `The ${name} did not respond in time.`,
    retryable: true,
    log: `a look-up at the ${name} took longer than "lookupMs" allows`,
  });
}
