import { MAX_TIMER_MS, withTimeout } from '../../domain/shared/deadline.js';
import { isAgentBffError, siteFailed } from '../../domain/shared/errors.js';
import { DeadlineError } from '../../domain/shared/failure-reason.js';
import { LruMap } from '../../domain/shared/lru-map.js';
import { accept, callback, type OptionShape, readOptions } from '../../domain/shared/options.js';
import { ipv6Groups } from '../../domain/shared/paths.js';
import type { LimitVerdict, VisitorLimit } from '../../ports/visitor-limit.js';
import { after } from '../system/system.js';

/**
 * Options of `rateLimiter`.
 *
 * @public
 */
export interface RateLimiterOptions {
  /**
   * Identifies the visitor of a framework request. Default: the address set by the framework (`request.ip`, by its
   * trust setting), otherwise that of the socket. Web-standard servers have neither: return the address from the field
   * that your proxy sets.
   */
  // Each framework has its own request type, which the site's function declares.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly visitor?: ((request: any) => string | undefined) | undefined;
  /** Milliseconds to wait for a limiter in another process, after which the visitor is admitted. Default 50. */
  readonly deadlineMs?: number | undefined;
}

const OPTIONS: OptionShape<keyof RateLimiterOptions> = {
  options: {
    visitor: callback,
    deadlineMs: accept(
      (value) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS,
      `a number of milliseconds above 0 and up to ${String(MAX_TIMER_MS)}`,
    ),
  },
};

/** Requests that follow a task, per message a visitor may send. */
const READINGS_A_POINT = 20;
/** The maximum number of visitors with a partly used point. */
const MAX_READERS = 10_000;

/**
 * Limits how much one visitor may send, with a limiter of the library `rate-limiter-flexible` (`RateLimiterMemory`,
 * `RateLimiterRedis`, `RateLimiterValkey` and the others); pass it to `chatLimit` or `userLimit`. The memory limiter suffices for one
 * process; several processes share a limit through the Redis or Valkey limiters. Requests that follow or cancel a task
 * (`tasks/get`, `tasks/resubscribe`, `tasks/cancel`) have their own allowance: 20 for each point, counted under the
 * visitor's name with `reading:` in front.
 *
 * @throws TypeError when there is no `consume`.
 * @throws ConfigurationError (code `configuration_invalid`) naming the option: `deadlineMs` must be above 0 and at most 2 147 483 647.
 *
 * @example
 * ```ts
 * import { configureServer, rateLimiter } from 'agent-bff';
 * import { RateLimiterMemory } from 'rate-limiter-flexible';
 *
 * configureServer({ chatLimit: rateLimiter(new RateLimiterMemory({ points: 20, duration: 60 })) });
 * ```
 *
 * @public
 */
export function rateLimiter(
  limiter: { consume(key: string): Promise<unknown> },
  options?: RateLimiterOptions,
): VisitorLimit {
  const { visitor = countedAddress, deadlineMs = 50 } = readOptions('rateLimiter', OPTIONS, options);
  if (typeof (Object(limiter) as { consume?: unknown }).consume !== 'function') {
    throw new TypeError(
      'rateLimiter takes a limiter of "rate-limiter-flexible", such as new RateLimiterMemory({ points: 20, duration: 60 })',
    );
  }
  const limit = after(deadlineMs, 'the limiter');
  const consume = (name: string): Promise<LimitVerdict> => withTimeout(limit, consumed(limiter, name));
  const named = async (
    request: unknown,
    user: string | undefined,
    admit: (name: string) => Promise<LimitVerdict>,
  ): Promise<LimitVerdict> => {
    try {
      const name = user === undefined ? visitor(request) : user && `user:${user}`;
      return name === undefined || name === ''
        ? { kind: 'unknown', log: 'the request does not identify the visitor' }
        : await admit(name);
    } catch (error) {
      if (isAgentBffError(error)) throw error;
      return { kind: 'unknown', log: nameOf(error) };
    }
  };
  const readings = new LruMap<number>({ maxEntries: MAX_READERS });
  return {
    admit: (request, user) => named(request, user, consume),
    admitReading: (request, user) =>
      named(request, user, async (name) => {
        // One point pays for the next requests too, which then need no call to the limiter.
        const left = readings.get(name) ?? 0;
        if (left > 0) {
          readings.set(name, left - 1);
          return { kind: 'admitted' };
        }
        const verdict = await consume(`reading:${name}`);
        if (verdict.kind === 'admitted') readings.set(name, READINGS_A_POINT - 1);
        return verdict;
      }),
  };
}

/**
 * Adds the allowance for following tasks to a limit without one: 600 requests a minute per address, in this process.
 * Behind a proxy, all visitors can share one address: such a site has to count them itself.
 */
export function withReadings(limit: VisitorLimit): Required<VisitorLimit> {
  const fallback = rateLimiter(minuteWindow(600), { visitor: visitorAddress });
  return {
    admit: (...asked) => limit.admit(...asked),
    admitReading: (...asked) => limit.admitReading?.(...asked) ?? fallback.admit(...asked),
  };
}

/** Counts by name within one minute; the next minute starts from zero. */
function minuteWindow(points: number): { consume(name: string): Promise<unknown> } {
  const windowMs = 60_000;
  let counts = new LruMap<number>({ maxEntries: MAX_READERS });
  let until = 0;
  return {
    consume: async (name) => {
      const now = Date.now();
      if (now >= until) {
        counts = new LruMap({ maxEntries: MAX_READERS });
        until = now + windowMs;
      }
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      if (count > points) throw Object.assign(new Error('too many'), { msBeforeNext: until - now });
    },
  };
}

async function consumed(limiter: { consume(key: string): Promise<unknown> }, name: string): Promise<LimitVerdict> {
  try {
    await limiter.consume(name);
    return { kind: 'admitted' };
  } catch (rejected) {
    if (isAgentBffError(rejected)) throw rejected;
    const { msBeforeNext } = Object(rejected) as { msBeforeNext?: unknown };
    if (typeof msBeforeNext === 'number') return { kind: 'refused', retryAfterMs: Math.max(0, msBeforeNext) };
    // The store's own message may contain its address, and the visitor's key.
    return { kind: 'unknown', log: nameOf(rejected) };
  }
}

function nameOf(error: unknown): string {
  if (error instanceof DeadlineError) return error.message;
  return `the limiter failed: ${error instanceof Error ? error.name : typeof error}`;
}

interface AddressedRequest {
  readonly ip?: unknown;
  readonly socket?: { readonly remoteAddress?: unknown; readonly localAddress?: unknown; readonly destroyed?: boolean };
}

const UNCOUNTED =
  'it counts addresses, and a Unix socket has none. Trust the proxy in front (app.set(\'trust proxy\', 1) in Express, app.proxy = true in Koa), or set "visitor" in the options of rateLimiter to a function that returns the address from the field the proxy sets, such as X-Forwarded-For';

/** As `visitorAddress`, but throws on a Unix socket without a trusted proxy, where no visitor would be counted. */
function countedAddress(request: unknown): string | undefined {
  const address = visitorAddress(request);
  const { socket } = Object(request) as AddressedRequest;
  // A visitor who has left has no address either, but the own end of a TCP socket has one until it is destroyed.
  if (address !== undefined || socket?.destroyed !== false || socket.localAddress !== undefined) return address;
  throw siteFailed('chatLimit', 'The requests of this visitor could not be counted.')(UNCOUNTED);
}

/**
 * The address of the sender of a request: the framework's `ip`, otherwise that of the socket. `X-Forwarded-For` is not
 * read here, since any visitor can send it: the framework's setting decides which proxy is trusted.
 */
export function visitorAddress(request: unknown): string | undefined {
  const { ip, socket } = Object(request) as AddressedRequest;
  const address = typeof ip === 'string' && ip !== '' ? ip : socket?.remoteAddress;
  return typeof address === 'string' ? ipv6Prefix64(address) : undefined;
}

/** A household usually has a whole IPv6 /64, and could send every message from another address. */
function ipv6Prefix64(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [withoutZone = ''] = address.toLowerCase().split('%', 1);
  const groups = ipv6Groups(withoutZone).slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}
