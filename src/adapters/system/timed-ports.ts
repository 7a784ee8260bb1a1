import { beforeAlarm } from '../../domain/shared/deadline.js';
import { DeadlineError } from '../../domain/shared/failure-reason.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';

/** The result of the work, or a `DeadlineError` with its name after `ms` milliseconds; the work itself continues. 0 means no limit. */
export function inTime<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  if (ms === 0) return work;
  return beforeAlarm(
    work,
    (expire) => {
      // A waiting request has a connection, which keeps the process alive.
      const timer = setTimeout(expire, ms).unref();
      return () => clearTimeout(timer);
    },
    () => {
      throw new DeadlineError(what, ms);
    },
  );
}

/** A provider with a time limit: a late result is an exception, and reported as out of order. */
export function timedIdentityProvider(provider: IdentityProvider, ms: number): IdentityProvider {
  const { block, signsLocally = false, takesTurns = false } = provider;
  return {
    block,
    signsLocally,
    takesTurns,
    recheck: () => provider.recheck?.(),
    identity: () => inTime((async () => provider.identity())(), ms, 'the identity provider'),
    issue: async (now) => inTime(provider.issue(now), ms, 'the identity provider'),
  };
}

/** An exchange with a time limit, in the same way. */
export function timedTokenExchange(exchange: TokenExchange, ms: number): TokenExchange {
  return {
    identity: () => inTime((async () => exchange.identity())(), ms, 'the token exchange'),
    exchange: async (request, now) => inTime(exchange.exchange(request, now), ms, 'the token exchange'),
  };
}
