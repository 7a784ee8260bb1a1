import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { CredentialAuth } from '../../domain/credentials/credential-broker.js';
import type { ServiceAuthStrategy } from '../config/server-config.js';
import type { GetHeaders } from './get-headers-option.js';
import { optionalSecret } from '../../domain/shared/secret.js';
import type { SiteFieldOptions } from './site-fields.js';
import type { SessionAuths } from './session-auths.js';

/**
 * Which credential the chat route attaches.
 *
 * @public
 */
export interface ChatHandlerOptions extends SiteFieldOptions {
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

/** Completes a chat route's options, as `readOptions` has read them. */
export function chatAuth(options: ChatHandlerOptions, sessions: SessionAuths): CredentialAuth {
  const { strategy = '', apiKey, getSessionToken, ...user } = options;
  if (getSessionToken === undefined) return { kind: 'service', strategy, apiKey: optionalSecret(apiKey) };
  return sessions.authFor(getSessionToken, { ...user, apiKey, required: true });
}
