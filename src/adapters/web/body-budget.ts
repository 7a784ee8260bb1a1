import { RequestError } from '../../domain/shared/errors.js';

/** Bodies up to here are small: they have a reserve of their own, which no large one can fill. */
const SMALL_BODY_BYTES = 65_536;
/** The reserve's part of the whole. */
const RESERVED = 0.25;
const AGAIN_MS = 1_000;
/** After so long a byte counts half of what it counted: a burst must not count as quick forever. */
const HALF_LIFE_MS = 1_000;

/** Settings of a budget. */
export interface BodyBudgetSettings {
  /** Bytes of request bodies that may be held together. */
  readonly limitBytes: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

/**
 * The memory of request bodies, counted in bytes received, from the first of them until the platform's response has begun.
 *
 * When it is full, the slowest body that is still being read is cut (408), and not the one that came last: a visitor who stops half-way
 * would otherwise shut the others out. Who has sent the fewest bytes of late is the slowest. Where nothing is being read that could be cut,
 * all of it waits for the platform, and a further body is refused (503).
 */
export class BodyBudget {
  readonly #now: () => number;
  readonly #small: Pool;
  readonly #large: Pool;

  constructor({ limitBytes, now }: BodyBudgetSettings) {
    this.#now = now;
    this.#small = new Pool(limitBytes * RESERVED);
    this.#large = new Pool(limitBytes * (1 - RESERVED));
  }

  /** Bytes held now. */
  get heldBytes(): number {
    return this.#small.used + this.#large.used;
  }

  /** Makes room for two bodies of this size: what a site takes from one visitor, it must be able to take. */
  admit(bodyBytes: number): void {
    this.#large.limit = Math.max(this.#large.limit, 2 * bodyBytes);
  }

  /** The share of a body that is about to be read; `cut` ends its reading. */
  open(cut: (error: RequestError) => void): BodyShare {
    const share = new BodyShare(this, this.#small, cut);
    this.#small.reading.add(share);
    return share;
  }

  /**
   * The share of a body that is there already.
   *
   * @throws RequestError `server_busy` when there is no room.
   */
  hold(bytes: number): BodyShare {
    const pool = this.#poolOf(bytes);
    const share = new BodyShare(this, pool, undefined);
    this.#add(pool, share, bytes);
    return share;
  }

  /**
   * Counts bytes of a body that have come.
   *
   * @throws RequestError `body_timeout` when this body is the slowest of too many, `server_busy` when there is no room and nothing to cut.
   */
  charge(share: BodyShare, bytes: number): void {
    const total = share.bytes + bytes;
    const pool = this.#poolOf(total);
    if (share.cut !== undefined) share.came(bytes, this.#now());
    if (pool !== share.pool) {
      const isReading = share.pool.reading.has(share);
      share.release();
      share.pool = pool;
      if (isReading) pool.reading.add(share);
      bytes = total;
    }
    this.#add(pool, share, bytes);
  }

  #add(pool: Pool, share: BodyShare, bytes: number): void {
    share.bytes += bytes;
    pool.used += bytes;
    while (pool.used > pool.limit) this.#makeRoom(pool, share);
  }

  #poolOf(bytes: number): Pool {
    return bytes > SMALL_BODY_BYTES ? this.#large : this.#small;
  }

  #makeRoom(pool: Pool, share: BodyShare): void {
    const slowest = pool.slowest(this.#now());
    if (slowest === undefined || (slowest === share && pool.reading.size === 1)) {
      share.release();
      throw full();
    }
    const error = late('the memory for request bodies was full, and this one was the slowest');
    slowest.release();
    if (slowest === share) throw error;
    slowest.cut?.(error);
  }
}

/** The share of one body in the budget. */
export class BodyShare {
  readonly #budget: BodyBudget;
  readonly cut: ((error: RequestError) => void) | undefined;
  pool: Pool;
  bytes: number = 0;
  #recent = 0;
  #cameAt = 0;

  constructor(budget: BodyBudget, pool: Pool, cut: ((error: RequestError) => void) | undefined) {
    this.#budget = budget;
    this.pool = pool;
    this.cut = cut;
  }

  /**
   * Counts bytes that have come.
   *
   * @throws RequestError as `BodyBudget.charge` does.
   */
  charge(bytes: number): void {
    this.#budget.charge(this, bytes);
  }

  /** The whole body is there: it is counted, and no longer cut. */
  keep(): void {
    this.pool.reading.delete(this);
  }

  /** The body is gone. */
  release(): void {
    this.pool.reading.delete(this);
    this.pool.used -= this.bytes;
    this.bytes = 0;
  }

  came(bytes: number, now: number): void {
    this.#recent = this.recent(now) + bytes;
    this.#cameAt = now;
  }

  /** Bytes that came of late; older ones count less. */
  recent(now: number): number {
    return this.#recent * 2 ** ((this.#cameAt - now) / HALF_LIFE_MS);
  }
}

class Pool {
  limit: number;
  used: number = 0;
  /** Bodies that are not complete. */
  readonly reading: Set<BodyShare> = new Set();

  constructor(limit: number) {
    this.limit = limit;
  }

  slowest(now: number): BodyShare | undefined {
    let slowest: BodyShare | undefined;
    let least = Infinity;
    for (const share of this.reading) {
      const recent = share.recent(now);
      // One that has nothing yet gives nothing back.
      if (share.bytes > 0 && recent < least) [slowest, least] = [share, recent];
    }
    return slowest;
  }
}

function full(): RequestError {
  return new RequestError('server_busy', {
    detail: 'The server holds too many request bodies.',
    hint: 'Send the request again in a moment.',
    retryable: true,
    retryAfterMs: AGAIN_MS,
    log: 'the memory for request bodies is full of messages that wait for the platform',
  });
}

/** The error of a body that is not waited for; `log` says to operators why. */
export function late(log: string): RequestError {
  return new RequestError('body_timeout', {
    detail: 'The request body did not arrive in time.',
    hint: 'Send it again.',
    retryable: true,
    log,
  });
}
