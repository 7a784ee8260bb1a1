import { AgentBffError, type ErrorCode, type ErrorFacts } from './shared/errors.js';

export {
  AgentBffError,
  ConfigurationError,
  type ErrorCode,
  type ErrorFacts,
  isAgentBffError,
} from './shared/errors.js';

/**
 * No service credential could be produced, or the platform refuses it (spec §5.7).
 * Codes `service_auth_failed`, `identity_provider_unavailable` and `service_token_rejected`.
 *
 * @public
 */
export class ServiceAuthError extends AgentBffError {
  /** Always `ServiceAuthError`. */
  override readonly name: string = 'ServiceAuthError';
  constructor(
    code: Extract<ErrorCode, 'service_auth_failed' | 'identity_provider_unavailable' | 'service_token_rejected'>,
    facts: ErrorFacts,
  ) {
    super(code, facts);
  }
}

/**
 * The visitor has no usable session. Codes `session_required`, `session_expired` and `interaction_required`.
 *
 * @public
 */
export class SessionError extends AgentBffError {
  /** Always `SessionError`. */
  override readonly name: string = 'SessionError';
  constructor(
    code: Extract<ErrorCode, 'session_required' | 'session_expired' | 'interaction_required'>,
    facts: ErrorFacts,
  ) {
    super(code, facts);
  }
}

/**
 * The browser's request is not one we forward: wrong body, method, media type, origin or host, or one too many.
 *
 * @public
 */
export class RequestError extends AgentBffError {
  /** Always `RequestError`. */
  override readonly name: string = 'RequestError';
}

/**
 * The platform gave no response we can pass on.
 *
 * @public
 */
export class UpstreamError extends AgentBffError {
  /** Always `UpstreamError`. */
  override readonly name: string = 'UpstreamError';
}
