import { sessionKind, type SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { CredentialPlan } from '../domain/credentials/credential-broker.js';
import { ConfigurationError } from '../domain/errors.js';
import type { ServiceAuthStrategy } from './config.js';
import type { GetHeaders } from './config-options.js';
import { headerSecret } from './header-secret.js';
import type { SessionPlans } from './session-plans.js';
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
  /** Makes the headers of the config route's look-ups, from the framework's request. Default: the credential of the chat. */
  readonly configGetHeaders?: GetHeaders | undefined;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
}

/**
 * Refuses options that contradict each other.
 *
 * @throws ConfigurationError naming the options, or an unknown strategy with the nearest known one.
 */
export function checkChatOptions(options: ChatHandlerOptions, customProviders: ReadonlySet<string>): void {
  const { strategy = '', getSessionToken, exchange } = options;
  headerSecret('apiKey', options.apiKey);
  checkStrategy(strategy, customProviders);
  if (getSessionToken === undefined) {
    if (exchange === undefined) return;
    throw new ConfigurationError({
      detail: 'A chat route got "exchange" without "getSessionToken".',
      hint: 'Add "getSessionToken": it is the signed-in user\'s token that is exchanged.',
      block: 'createA2ARouter',
      fields: ['getSessionToken', 'exchange'],
    });
  }
  asSource(getSessionToken);
  if (strategy === '') return;
  throw new ConfigurationError({
    detail: 'A chat route got both "strategy" and "getSessionToken".',
    hint: 'Keep "getSessionToken" to call the agent as the signed-in user, or "strategy" to call it as the service. A route never falls back from one to the other.',
    block: 'createA2ARouter',
    fields: ['strategy', 'getSessionToken'],
  });
}

/** Completes a chat route's options. */
export function chatPlan(options: ChatHandlerOptions, sessions: SessionPlans): CredentialPlan {
  checkChatOptions(options, sessions.customProviders);
  const { strategy = '', getSessionToken, audience = '', exchange } = options;
  const apiKey = headerSecret('apiKey', options.apiKey);
  if (getSessionToken === undefined) return { kind: 'service', strategy, apiKey };
  const session = sessions.planFor(getSessionToken, audience, exchange === 'on_behalf_of');
  return { kind: 'session', required: true, apiKey, ...session };
}

function asSource(like: SessionTokenLike): void {
  try {
    sessionKind(like);
  } catch (error) {
    throw new ConfigurationError({
      detail: '"getSessionToken" is nothing a session can be read with.',
      hint: `Use a session source of this package: ${error instanceof Error ? error.message : 'see its documentation'}.`,
      block: 'createA2ARouter',
      fields: ['getSessionToken'],
    });
  }
}
