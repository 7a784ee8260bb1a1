import { asSessionTokenSource, type SessionTokenLike } from '../adapters/sessions/as-session-token-source.js';
import type { CredentialPlan } from '../domain/credentials/credential-broker.js';
import { ConfigurationError } from '../domain/errors.js';
import type { ServiceAuthStrategy } from './config.js';
import { headerSecret } from './header-secret.js';
import { checkStrategy } from './strategy-names.js';

/**
 * Which credential the chat route attaches.
 *
 * @public
 */
export interface ChatHandlerOptions {
  /** Service strategy of this route. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Gives the signed-in user's token; with it the route requires a session, and `strategy` is not allowed. */
  readonly getSessionToken?: SessionTokenLike | undefined;
}

/**
 * Completes a chat route's options.
 *
 * @throws ConfigurationError when they contradict each other, or name an unknown strategy.
 */
export function chatPlan(options: ChatHandlerOptions, customProviders: ReadonlySet<string>): CredentialPlan {
  const { strategy = '', getSessionToken } = options;
  const key = headerSecret('apiKey', options.apiKey);
  if (getSessionToken === undefined) {
    checkStrategy(strategy, customProviders);
    return { kind: 'service', strategy, apiKey: key };
  }
  if (strategy !== '') {
    throw new ConfigurationError({
      detail: 'A chat route got both "strategy" and "getSessionToken".',
      hint: 'Keep "getSessionToken" to call the agent as the signed-in user, or "strategy" to call it as the service. A route never falls back from one to the other.',
      block: 'createA2ARouter',
      fields: ['strategy', 'getSessionToken'],
    });
  }
  return { kind: 'session', source: asSessionTokenSource(getSessionToken), audience: '', apiKey: key };
}
