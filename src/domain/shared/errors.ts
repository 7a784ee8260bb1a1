/**
 * Every failure this package names, and codes of the site's own. A minor version may add some.
 *
 * @public
 */
export type ErrorCode =
  | (string & {})
  | 'configuration_invalid'
  | 'service_auth_failed'
  | 'identity_provider_unavailable'
  | 'service_token_rejected'
  | 'session_required'
  | 'session_expired'
  | 'interaction_required'
  | 'origin_refused'
  | 'host_refused'
  | 'rate_limited'
  | 'body_invalid'
  | 'body_too_large'
  | 'body_consumed'
  | 'body_timeout'
  | 'content_type_unsupported'
  | 'content_encoding_unsupported'
  | 'method_denied'
  | 'conversation_unknown'
  | 'method_not_allowed'
  | 'not_found'
  | 'upgrade_unsupported'
  | 'upstream_unreachable'
  | 'upstream_timeout'
  | 'upstream_redirect'
  | 'upstream_invalid_response'
  | 'upstream_error'
  | 'agent_binding_unsupported'
  | 'server_busy'
  | 'server_closing'
  | 'internal_error';

/** The codes of this package. */
export type KnownCode = Known<ErrorCode>;
type Known<Code> = Code extends string ? (string extends Code ? never : Code) : never;

/**
 * The contents of an error. All of it is public except `log`.
 *
 * @public
 */
export interface ErrorFacts {
  /** One sentence: what happened. */
  readonly detail: string;
  /** One sentence: what to do. Names blocks and fields, never values. */
  readonly hint?: string;
  /** The configuration block to check. */
  readonly block?: string;
  /** The fields of that block to check. */
  readonly fields?: readonly string[];
  /** True if the same request may succeed later without a change. */
  readonly retryable?: boolean;
  /** Milliseconds to wait before trying again. */
  readonly retryAfterMs?: number;
  /** The claims that the user's next sign-in must request, as JSON text. */
  readonly claims?: string | undefined;
  /** @internal The JSON-RPC code on the chat route, if the default (-32603) is not specific enough. */
  readonly rpcCode?: number;
  /** The status of the response, from 400 to 599: the platform's, or the choice of an error of the site's own. Default: by `code`, and 500 for a code of the site's own. */
  readonly upstreamStatus?: number;
  /** @internal Fields of the platform's response that our response keeps, by lower-case name. */
  readonly upstreamHeaders?: Readonly<Record<string, string>>;
  /** For the server's log only. */
  readonly log?: string;
}

// A bundler may load this module twice in one process (Next does), so errors are recognised by a registered symbol.
const brand: unique symbol = Symbol.for('agent-bff/error@1') as never;

/**
 * Base class of all errors of this package; `code` is stable and documented, the message is not.
 *
 * @example
 * ```ts
 * import { getAuthHeaders, isAgentBffError } from 'agent-bff';
 *
 * try {
 *   await getAuthHeaders({ strategy: 'service_account' });
 * } catch (error) {
 *   if (isAgentBffError(error)) console.error(error.code, error.hint);
 * }
 * ```
 *
 * @public
 */
export class AgentBffError extends Error {
  /** Always `AgentBffError`. */
  override readonly name: string = 'AgentBffError';
  /** The stable name of the failure. */
  declare readonly code: ErrorCode;
  /** One sentence: what happened. Public. */
  declare readonly detail: string;
  /** One sentence: what to do. Public. */
  readonly hint: string | undefined;
  /** The configuration block to check. */
  readonly block: string | undefined;
  /** The fields of that block to check; empty when none is named. */
  readonly fields: readonly string[] = [];
  /** True if the same request may succeed later without a change. */
  readonly retryable: boolean = false;
  /** Milliseconds to wait before trying again. */
  readonly retryAfterMs: number | undefined;
  /**
   * The claims that the user's next sign-in must request, as the JSON text of the provider's parameter `claims` (OpenID
   * Connect Core 1.0 §5.5); absent if there are none.
   */
  readonly claims: string | undefined;
  /** @internal The JSON-RPC code on the chat route; absent if the default is right. */
  readonly rpcCode: number | undefined;
  /** The platform's own status, if the response keeps it. */
  readonly upstreamStatus: number | undefined;
  /** @internal Fields of the platform's response that our response keeps, by lower-case name; empty if there are none. */
  readonly upstreamHeaders: Readonly<Record<string, string>> = {};
  readonly #log: string | undefined;

  constructor(code: ErrorCode, input: ErrorFacts) {
    // A site in JavaScript may pass a text, and visitors would read "undefined".
    if (typeof (Object(input) as ErrorFacts).detail !== 'string')
      throw new TypeError('An error of agent-bff needs facts such as { detail: "The order was not found." }.');
    const { log, ...facts } = input;
    super(facts.hint === undefined ? facts.detail : `${facts.detail} ${facts.hint}`);
    Object.assign(this, facts, { code });
    this.#log = log;
  }

  /** @internal */
  get [brand](): true {
    return true;
  }

  /** @internal Text for the operator, not for visitors: provider messages, hosts, paths. */
  logDetail(): string {
    return this.#log ?? this.detail;
  }
}

/**
 * True if a value is an error of this package, even if another copy of the package in the same process created it.
 *
 * @public
 */
export function isAgentBffError(value: unknown): value is AgentBffError {
  return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true;
}

/**
 * The configuration is invalid: an address that does not parse, an unknown field, option or strategy. Thrown before any
 * request by `configureServer`, `createToolkit` and every function that takes options; code `configuration_invalid`.
 *
 * @public
 */
export class ConfigurationError extends AgentBffError {
  /** Always `ConfigurationError`. */
  override readonly name: string = 'ConfigurationError';
  constructor(facts: ErrorFacts) {
    super('configuration_invalid', facts);
  }
}

/**
 * No service credential could be obtained, or the platform rejects it (docs/troubleshooting.md). Codes
 * `service_auth_failed`,
 * `identity_provider_unavailable` and `service_token_rejected`.
 *
 * @public
 */
export class ServiceAuthError extends AgentBffError {
  /** Always `ServiceAuthError`. */
  override readonly name: string = 'ServiceAuthError';
  constructor(
    code: 'service_auth_failed' | 'identity_provider_unavailable' | 'service_token_rejected',
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
  constructor(code: 'session_required' | 'session_expired' | 'interaction_required', facts: ErrorFacts) {
    super(code, facts);
  }
}

/**
 * The browser's request is not forwarded: wrong body, method, media type, origin or host, or too many requests.
 *
 * @public
 */
export class RequestError extends AgentBffError {
  /** Always `RequestError`. */
  override readonly name: string = 'RequestError';
}

/**
 * The platform sent no response that can be passed on.
 *
 * @public
 */
export class UpstreamError extends AgentBffError {
  /** Always `UpstreamError`. */
  override readonly name: string = 'UpstreamError';
}

/** The error for a function of the site, by the name of its option. */
export function siteFailed(option: string, detail: string): (reason: string) => AgentBffError {
  return (reason) =>
    new AgentBffError('internal_error', {
      detail,
      hint: `Check the function in "${option}"; the server log has the cause.`,
      block: option,
      log: `The function in "${option}" failed: ${reason}.`,
    });
}

/** The error for a session source that fails because of the site: signing in again cannot help. */
export const sessionFailed: (reason: string) => AgentBffError = siteFailed('auth', 'The session could not be read.');

/** The two causes of a request without its session: a store that is down looks like a middleware that is absent. */
export const NOT_MOUNTED = 'is not mounted before the route, or its store is not connected';
