import { withTimeout } from '../../domain/shared/deadline.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import { after } from './system.js';

/** A provider with a time limit: a late result is an exception, and reported as out of order. */
export function timedIdentityProvider(provider: IdentityProvider, ms: number): IdentityProvider {
  const { block, signsLocally = false, takesTurns = false } = provider;
  const limit = after(ms, 'the identity provider');
  return {
    block,
    signsLocally,
    takesTurns,
    recheck: () => provider.recheck?.(),
    identity: () => withTimeout(limit, (async () => provider.identity())()),
    issue: async (now) => withTimeout(limit, provider.issue(now)),
  };
}

/** An exchange with a time limit, in the same way. */
export function timedTokenExchange(exchange: TokenExchange, ms: number): TokenExchange {
  const limit = after(ms, 'the token exchange');
  return {
    identity: () => withTimeout(limit, (async () => exchange.identity())()),
    exchange: async (request, now) => withTimeout(limit, exchange.exchange(request, now)),
  };
}
