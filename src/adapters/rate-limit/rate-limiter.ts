import { beforeAlarm, MAX_TIMER_MS } from '../../domain/shared/deadline.js';
import { accept, callback, type OptionShape, readOptions } from '../../domain/shared/options.js';
import type { LimitVerdict, VisitorLimit } from '../../ports/visitor-limit.js';

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

const LATE: LimitVerdict = { kind: 'unknown', detail: 'the limiter did not answer in time' };

/**
 * Limits how much one visitor may send, with a limiter of the library `rate-limiter-flexible` (`RateLimiterMemory`,
 * `RateLimiterRedis`, `RateLimiterValkey` and the others); pass it to `chatLimit`. The memory limiter suffices for one
 * process; several processes share a limit through the Redis or Valkey limiters.
 *
 * @throws TypeError when there is no `consume`.
 * @throws ConfigurationError (code `configuration_invalid`) naming the option: `deadlineMs` is above 0, and no more than a timer can wait (2 147 483 647).
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
  const { visitor = visitorAddress, deadlineMs = 50 } = readOptions('rateLimiter', OPTIONS, options);
  if (typeof (Object(limiter) as { consume?: unknown }).consume !== 'function') {
    throw new TypeError(
      'rateLimiter takes a limiter of "rate-limiter-flexible", such as new RateLimiterMemory({ points: 20, duration: 60 })',
    );
  }
  return {
    admit: async (request) => {
      try {
        const name = visitor(request);
        if (name === undefined || name === '') return { kind: 'unknown', detail: 'the request names no visitor' };
        return await beforeAlarm(
          consumed(limiter, name),
          (expire) => {
            const timer = setTimeout(expire, deadlineMs);
            return () => clearTimeout(timer);
          },
          () => LATE,
        );
      } catch (error) {
        return { kind: 'unknown', detail: nameOf(error) };
      }
    },
  };
}

async function consumed(limiter: { consume(key: string): Promise<unknown> }, name: string): Promise<LimitVerdict> {
  try {
    await limiter.consume(name);
    return { kind: 'admitted' };
  } catch (rejected) {
    const { msBeforeNext } = Object(rejected) as { msBeforeNext?: unknown };
    if (typeof msBeforeNext === 'number') return { kind: 'refused', retryAfterMs: Math.max(0, msBeforeNext) };
    // The store's own message may contain its address, and the visitor's key.
    return { kind: 'unknown', detail: nameOf(rejected) };
  }
}

function nameOf(error: unknown): string {
  return `the limiter failed: ${error instanceof Error ? error.name : typeof error}`;
}

interface AddressedRequest {
  readonly ip?: unknown;
  readonly socket?: { readonly remoteAddress?: unknown };
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
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back].map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.slice(0, 4).join(':')}::/64`;
}
