import type { CacheStore } from '../../ports/cache-store.js';
import type { Clock } from '../../ports/clock.js';
import type { AccessToken, IssueFailure, IssueOutcome } from '../../ports/identity-provider.js';
import type { Memory, MemoryMap } from '../../ports/memory.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { reasonOf } from '../shared/failure-reason.js';
import { isObject, parsedJson } from '../shared/json.js';
import { SingleFlight } from '../shared/single-flight.js';

/** The issuer of a token. */
export interface Issuer {
  /** The configuration block to name in errors. */
  readonly block: string;
  /** As in `IdentityProvider`. */
  readonly takesTurns?: boolean | undefined;
}

/** Sends one request to the provider. Shared by all callers of a key, so it must not depend on any one of them. */
export type IssueToken = (now: number) => Promise<IssueOutcome>;

export interface TokenCacheDependencies {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Tokens and refusals shared with other processes, already sealed. */
  readonly shared?: CacheStore;
  readonly memory: Memory;
  /** Resolves after a delay. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Creates a globally unique text. */
  readonly newId: () => string;
}

// Proportional, so that both one-minute and one-day tokens are cached.
const STALE_SHARE = 0.2;
const STALE_MAX_MS = 120_000;
const FLOOR_SHARE = 0.02;
const FLOOR_MAX_MS = 5_000;

// A provider that refused is retried rarely: ten wrong passwords lock a service user's account.
const REFUSED_FIRST_MS = 30_000;
const REFUSED_MAX_MS = 900_000;
const UNAVAILABLE_FIRST_MS = 500;
const UNAVAILABLE_MAX_MS = 30_000;
/** Maximum pause. A provider that requests a longer one is wrong, and would take the site down with one response. */
const MAX_PAUSE_MS = 3_600_000;
/** Milliseconds after which a process asks although it is not its turn. */
const MAX_WAIT_MS = 5_000;
/** Pause before a claim is read back: longer than the writes of others that saw none either. */
const CLAIM_MS = 100;
/** Milliseconds of a claim: its process asks alone for a second, then the next one asks too. */
const TURN_MS = 1_000 + CLAIM_MS;
/** Bytes of an entry besides its token. */
const ENTRY_BYTES = 512;
const CLOCKS = ', and the clocks of this server and the provider';

/** A refusal that all processes respect, so that a fleet does not lock its service user's account. */
interface SharedRefusal {
  readonly failure: IssueFailure;
  /** Failures in a row, for the next back-off. */
  readonly failures: number;
  readonly refusedAt: number;
  readonly retryAt: number;
}

/** The token of one key, and the state of its provider. */
class Entry {
  readonly block: string;
  token: AccessToken | undefined;
  /** The last failure, until a token is issued. */
  failure: IssueFailure | undefined;
  /** A token the platform rejected: never served again, not even from the shared store. */
  rejected: string | undefined;
  /** Expiry of the last token, also of a rejected one: identifies it in all processes without revealing it. */
  expiresAt = 0;
  #staleAt = 0;
  #mustRenewAt = 0;
  #failures = 0;
  #retryAt = 0;
  #failedAt = 0;
  /** Time at which its back-off was last cleared. */
  #liftedAt = -Infinity;
  /** Until then a rejected token is not dropped: the last renewal did not help, and one per request would overload the provider. */
  #rejectableAt = 0;

  constructor(block: string) {
    this.block = block;
  }

  /** True if the token is due for renewal; it is still served meanwhile. */
  isDue(now: number): boolean {
    return now >= this.#staleAt;
  }

  /** True if callers have to wait for the renewal. */
  mustWait(now: number): boolean {
    return now >= this.#mustRenewAt;
  }

  /** True while the provider is not called because it failed. */
  isResting(now: number): boolean {
    return now < this.#retryAt;
  }

  /** The token, unless it has expired. */
  valid(now: number): AccessToken | undefined {
    return this.token !== undefined && now < this.token.expiresAt ? this.token : undefined;
  }

  /** Milliseconds until the provider is called again. */
  restMs(now: number): number {
    return this.#retryAt - now;
  }

  /** Stores a new token; `jitter` is from 0 up to 1. */
  keep(token: AccessToken, issuedAt: number, jitter: number): void {
    const life = token.expiresAt - issuedAt;
    const early = Math.min(STALE_MAX_MS, life * STALE_SHARE) * (1 + 0.1 * jitter);
    this.token = token;
    this.expiresAt = token.expiresAt;
    this.#staleAt = token.expiresAt - early;
    this.#mustRenewAt = token.expiresAt - floorMs(life);
    this.#failures = 0;
    this.#retryAt = 0;
    this.failure = undefined;
    this.rejected = undefined;
  }

  /** Records a failure of the provider. */
  backOff(failure: IssueFailure, now: number, random: () => number): void {
    // No request was sent, so retrying is free: once the missing field is filled, the next request must work.
    if (failure.reason === 'incomplete') return;
    const refused = failure.reason === 'refused';
    const first = refused ? REFUSED_FIRST_MS : UNAVAILABLE_FIRST_MS;
    const most = refused ? REFUSED_MAX_MS : UNAVAILABLE_MAX_MS;
    const span = Math.min(most, first * 2 ** this.#failures);
    const wait = refused ? span : span * (0.5 + 0.5 * random());
    this.#failures += 1;
    this.failure = failure;
    this.#failedAt = now;
    // With a pause of NaN, the provider would be called on every request.
    const pause = Math.min(failure.retryAfterMs ?? 0, MAX_PAUSE_MS) || 0;
    this.#retryAt = now + Math.max(wait, pause);
  }

  /** The refusal of its provider, for other processes. */
  get refusal(): SharedRefusal | undefined {
    const { failure } = this;
    if (failure?.reason !== 'refused') return undefined;
    return { failure, failures: this.#failures, refusedAt: this.#failedAt, retryAt: this.#retryAt };
  }

  /** Adopts the back-off of the process that was refused; false if it is over, or was lifted here since. */
  adopt({ failure, failures, refusedAt, retryAt }: SharedRefusal, now: number): boolean {
    if (retryAt <= now || refusedAt <= this.#liftedAt) return false;
    this.failure = failure;
    this.#failures = failures;
    // Another process's clock may be ahead.
    this.#retryAt = Math.min(retryAt, now + Math.min(retryAt - refusedAt, MAX_PAUSE_MS));
    return true;
  }

  /** Ends a back-off early, at most every 30 seconds. */
  lift(now: number): void {
    if (this.failure === undefined) return;
    this.#retryAt = Math.min(this.#retryAt, this.#liftedAt + REFUSED_FIRST_MS);
    if (!this.isResting(now)) this.#liftedAt = now;
  }

  /** Drops a token the platform rejected; false if this was done a moment ago. */
  reject(value: string, now: number): boolean {
    if (now < this.#rejectableAt) return false;
    this.token = undefined;
    this.rejected = value;
    this.#rejectableAt = now + REFUSED_FIRST_MS;
    return true;
  }
}

/**
 * Caches tokens until shortly before they expire, and sends one request to the provider for any number of callers. A
 * valid token is never replaced by an error, and a failed request is not repeated until its back-off ends.
 */
export class TokenCache {
  readonly #deps: TokenCacheDependencies;
  readonly #entries: MemoryMap<Entry>;
  readonly #renewals = new SingleFlight<IssueOutcome>();

  constructor(dependencies: TokenCacheDependencies) {
    this.#deps = dependencies;
    this.#entries = dependencies.memory.map();
  }

  /** The token in memory if it does not need renewal yet. Synchronous; sends no request. */
  fresh(key: string): AccessToken | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || entry.isDue(this.#deps.clock.now()) ? undefined : entry.token;
  }

  /** A valid token from memory, the shared store or the provider; otherwise the reason for its absence. */
  async get(key: string, issuer: Issuer, issue: IssueToken): Promise<IssueOutcome> {
    const now = this.#deps.clock.now();
    const entry = this.#entries.get(key) ?? new Entry(issuer.block);
    const { token, failure } = entry;
    if (token !== undefined && !entry.mustWait(now)) {
      if (entry.isDue(now) && !entry.isResting(now)) void this.#renew(key, entry, issuer, issue);
      if (entry.isDue(now)) this.#deps.telemetry.emit({ type: 'token', outcome: 'stale_served', block: issuer.block });
      return { kind: 'token', token };
    }
    if (failure !== undefined && entry.isResting(now)) {
      return unexpired(entry, now) ?? { ...failure, retryAfterMs: entry.restMs(now) };
    }
    const outcome = await this.#renew(key, entry, issuer, issue);
    return outcome.kind === 'failure' ? (unexpired(entry, this.#deps.clock.now()) ?? outcome) : outcome;
  }

  /**
   * Evicts a token the platform rejected, unless it was renewed meanwhile (compare and delete). True if requesting the
   * key again can return another token now.
   */
  async reject(key: string, value: string): Promise<boolean> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return true;
    if (entry.token !== undefined && entry.token.value !== value) return true;
    if (entry.token === undefined) return entry.rejected === value;
    if (!entry.reject(value, this.#deps.clock.now())) return false;
    this.#deps.telemetry.emit({ type: 'token', outcome: 'rejected', block: entry.block });
    await this.#withdraw(key, value);
    return true;
  }

  /** Removes a rejected token from the shared store, unless another process has renewed it. */
  async #withdraw(key: string, value: string): Promise<void> {
    const { shared } = this.#deps;
    try {
      if (parseShared(await shared?.get(key))?.token.value === value) await shared?.delete(key);
    } catch {
      // The store has reported it. Each process ignores the token that was rejected there.
    }
  }

  /**
   * Lets the next request for each key call its provider again, since the cause of a refusal may have been fixed. At
   * most every 30 seconds per key: a site that calls this on every request must not lock its own service user.
   */
  liftBackOffs(): void {
    const now = this.#deps.clock.now();
    for (const [, entry] of this.#entries) entry.lift(now);
  }

  /** The newest unexpired token of a key in memory, even if it is due for renewal. */
  peek(key: string): AccessToken | undefined {
    return this.#entries.get(key)?.valid(this.#deps.clock.now());
  }

  #renew(key: string, entry: Entry, issuer: Issuer, issue: IssueToken): Promise<IssueOutcome> {
    return this.#renewals.run(key, async () => {
      const outcome = await this.#ask(key, entry, issuer, issue);
      // The entry may have been evicted while the provider was called.
      this.#keep(key, entry);
      return outcome;
    });
  }

  /** Counts the entry as long as its token or its back-off matters. */
  #keep(key: string, entry: Entry): void {
    const now = this.#deps.clock.now();
    const until = Math.max(entry.expiresAt, now, now + entry.restMs(now)) + REFUSED_MAX_MS;
    this.#entries.set(key, entry, 2 * (entry.token?.value.length ?? 0) + ENTRY_BYTES, until);
  }

  async #ask(key: string, entry: Entry, { block, takesTurns }: Issuer, issue: IssueToken): Promise<IssueOutcome> {
    const look = (): Promise<IssueOutcome | undefined> => this.#fromShared(key, entry);
    // Without the store, each process asks for itself.
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
    const meanwhile = takesTurns === true ? await this.#turn(key, look) : undefined;
    if (meanwhile !== undefined) return meanwhile;
    const outcome = await this.#issue(key, entry, block, issue);
    // Others need not wait for a result that is not shared.
    if (takesTurns === true && outcome.kind === 'failure' && outcome.reason !== 'refused')
      this.#deps.shared?.delete(claimKey(key)).catch(() => undefined);
    return outcome;
  }

  /**
   * Waits until it is this process's turn to ask; resolves with the result of another process if there is one by then.
   * Each second without one, another process begins, in case the last one ended or hangs. A store that fails is tried for
   * a second: without it, a fleet could lock the account.
   */
  async #turn(key: string, look: () => Promise<IssueOutcome | undefined>): Promise<IssueOutcome | undefined> {
    const { shared, clock, sleep } = this.#deps;
    if (shared === undefined) return undefined;
    const startedAt = clock.now();
    while (clock.now() - startedAt < MAX_WAIT_MS) {
      try {
        const own = await this.#claim(shared, claimKey(key));
        await sleep(CLAIM_MS);
        const [holder, found] = await Promise.all([shared.get(claimKey(key)), look()]);
        if (found !== undefined || (own !== undefined && holder === own)) return found;
      } catch {
        if (clock.now() - startedAt >= TURN_MS) return undefined;
        await sleep(CLAIM_MS);
      }
    }
    return undefined;
  }

  /** Writes a claim unless there is one; returns it if no other process can have one. */
  async #claim(store: CacheStore, key: string): Promise<string | undefined> {
    const { clock, newId } = this.#deps;
    const readAt = clock.now();
    if ((await store.get(key)) !== undefined) return undefined;
    const own = newId();
    await store.set(key, own, clock.now() + TURN_MS);
    // A process that was busy meanwhile may have replaced the claim of one that asks already.
    return clock.now() - readAt < CLAIM_MS ? own : undefined;
  }

  async #issue(key: string, entry: Entry, block: string, issue: IssueToken): Promise<IssueOutcome> {
    const startedAt = this.#deps.clock.now();
    let outcome: IssueOutcome;
    try {
      outcome = checked(await issue(startedAt), block, this.#deps.clock.now());
    } catch (error) {
      outcome = unusable(block, reasonOf(error, 'the identity provider adapter'));
    }
    const now = this.#deps.clock.now();
    const renewed = entry.token !== undefined;
    if (outcome.kind === 'token') {
      entry.keep(outcome.token, now, this.#deps.random());
      this.#deps.telemetry.emit({
        type: 'token',
        outcome: renewed ? 'renewed' : 'acquired',
        block,
        durationMs: now - startedAt,
      });
      this.#share(key, { ...outcome.token, issuedAt: now }, outcome.token.expiresAt);
      return outcome;
    }
    entry.backOff(outcome, now, this.#deps.random);
    const { refusal } = entry;
    if (refusal !== undefined) this.#share(refusalKey(key), refusal, refusal.retryAt);
    this.#deps.telemetry.emit({ type: 'token', outcome: 'backoff', block: outcome.block, detail: outcome.log });
    // The caller whose own request failed gets the same retry time as callers during the back-off.
    return outcome.reason === 'unavailable' ? { ...outcome, retryAfterMs: entry.restMs(now) } : outcome;
  }

  /** The token or refusal of another process; rejects if the store fails. */
  async #fromShared(key: string, entry: Entry): Promise<IssueOutcome | undefined> {
    const { shared } = this.#deps;
    if (shared === undefined) return undefined;
    const [text, refused] = await Promise.all([shared.get(key), shared.get(refusalKey(key))]);
    const token = this.#usable(parseShared(text), entry);
    if (token !== undefined) return { kind: 'token', token };
    const now = this.#deps.clock.now();
    const refusal = parseRefusal(refused);
    if (refusal === undefined || !entry.adopt(refusal, now)) return undefined;
    return { ...refusal.failure, retryAfterMs: entry.restMs(now) };
  }

  #usable(found: ReturnType<typeof parseShared>, entry: Entry): AccessToken | undefined {
    if (found === undefined || found.token.value === entry.rejected) return undefined;
    const now = this.#deps.clock.now();
    const known = entry.token?.expiresAt ?? 0;
    const { token, issuedAt } = found;
    if (token.expiresAt <= now || token.expiresAt <= known) return undefined;
    // The clock of the other process is ahead: the token expires earlier than it says.
    if (issuedAt > now + floorMs(token.expiresAt - issuedAt)) return undefined;
    const candidate = new Entry(entry.block);
    candidate.keep(token, issuedAt, this.#deps.random());
    // A shared token that is due for renewal would only send every process back here.
    if (candidate.isDue(now)) return undefined;
    entry.keep(token, issuedAt, this.#deps.random());
    return token;
  }

  /** Not awaited, so that a slow store does not delay callers. The store reports its faults. */
  #share(key: string, record: object, expiresAt: number): void {
    this.#deps.shared?.set(key, JSON.stringify(record), expiresAt).catch(() => undefined);
  }
}

/** The outcome, or a failure for a token that cannot be used. */
function checked(outcome: IssueOutcome, block: string, now: number): IssueOutcome {
  // A log takes texts only: an error in its place would end a renewal in the background, and the process.
  if (outcome.kind === 'failure') return { ...outcome, log: String(outcome.log) };
  // Also rejects an expiry of NaN, which would never be reached while the token never counts as fresh.
  if (outcome.token.expiresAt > now) return outcome;
  return unusable(block, 'the provider issued a token that has already expired', CLOCKS);
}

/** Milliseconds before its expiry in which a token is not served any more. */
function floorMs(lifeMs: number): number {
  return Math.min(FLOOR_MAX_MS, lifeMs * FLOOR_SHARE);
}

function refusalKey(key: string): string {
  return `${key} refused`;
}

function claimKey(key: string): string {
  return `${key} turn`;
}

function unexpired(entry: Entry, now: number): IssueOutcome | undefined {
  const token = entry.valid(now);
  return token === undefined ? undefined : { kind: 'token', token };
}

function parseShared(text: string | undefined): { token: AccessToken; issuedAt: number } | undefined {
  const parsed = parsedJson(text);
  if (!isObject(parsed)) return undefined;
  const { value, expiresAt, issuedAt } = parsed;
  if (typeof value !== 'string' || typeof expiresAt !== 'number' || typeof issuedAt !== 'number') return undefined;
  return { token: { value, expiresAt }, issuedAt };
}

function parseRefusal(text: string | undefined): SharedRefusal | undefined {
  const parsed = parsedJson(text);
  if (!isObject(parsed) || !isObject(parsed['failure'])) return undefined;
  const times = [parsed['failures'], parsed['refusedAt'], parsed['retryAt']];
  return times.every((time) => typeof time === 'number') ? (parsed as unknown as SharedRefusal) : undefined;
}

/** A failure, so that it is cached: if passed on, the token would be rejected and requested again on every request. */
export function unusable(block: string, log: string, alsoCheck = ''): IssueFailure {
  return {
    kind: 'failure',
    reason: 'unavailable',
    block,
    fields: [],
    advice: `Check the "${block}" configuration block${alsoCheck}.`,
    log,
  };
}
