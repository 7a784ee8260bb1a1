import type {
  HeaderFields,
  HttpResponse,
  HttpUpstream,
  RequestContext,
  UpstreamOutcome,
  UpstreamRequest,
} from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { Credential } from '../credentials/credential.js';
import type { CredentialBroker } from '../credentials/credential-broker.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { discard, isStream } from '../shared/body.js';
import { ConfigurationError, ServiceAuthError } from '../shared/errors.js';
import { type Counterpart, noResponse, type PlatformErrors, type PlatformReply } from './platform-error.js';
import { upstreamRequestHeaders } from './header-policy.js';

/** The parts that calls to platform and agent need. */
export interface PlatformCallDependencies {
  readonly upstream: HttpUpstream;
  readonly credentials: CredentialBroker;
  readonly errors: PlatformErrors;
  readonly telemetry: Telemetry;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The time limits of one kind of call. */
export type CallTimeouts = Pick<UpstreamRequest, 'headersMs' | 'bodyIdleMs' | 'bodyMs' | 'streamIdleMs'>;

/** One request to the platform, without its credential. */
export interface PlatformMessage extends Pick<UpstreamRequest, 'method' | 'origin' | 'path' | 'body' | 'signal'> {
  readonly counterpart: Counterpart;
  readonly timeouts: CallTimeouts;
  /** The browser's fields; those that may cross do. */
  readonly browser: HeaderFields;
  /** Names of fields that may cross here besides the usual ones. */
  readonly further?: readonly string[];
  /** Fields of our own: they win over those of the site's own, and the credential's over them. */
  readonly own?: HeaderFields;
  /** Media type of a body that was judged as such, sent without the browser's parameters; absent: the browser's field crosses. */
  readonly contentType?: string;
  /** True if it may be sent again though its outcome is unknown. Default: as its method says (RFC 9110 §9.2.2). */
  readonly isRepeatable?: boolean;
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** The caller a request is sent for. */
export interface CallContext {
  readonly auth: RouteAuth;
  readonly request: RequestContext;
  /** The credential of this request. */
  readonly credential: Credential;
}

/**
 * Sends one request to the platform with a credential, and once more when that was refused and can be renewed. Every call to platform and agent is one of these.
 *
 *     (a) send ──► (b) 401? renew ──► (c) send again, once
 */
export class PlatformCall {
  /** Handles responses of 400 and above. */
  readonly errors: PlatformErrors;
  readonly #deps: PlatformCallDependencies;

  constructor(dependencies: PlatformCallDependencies) {
    this.#deps = dependencies;
    this.errors = dependencies.errors;
  }

  /**
   * The caller with the credential for one request.
   *
   * @throws ServiceAuthError and SessionError when there is no credential.
   */
  async caller(auth: RouteAuth, request: RequestContext): Promise<CallContext> {
    return { auth, request, credential: await this.#deps.credentials.obtain(auth, request) };
  }

  /**
   * The response as soon as its head is there, whatever its status, and the credential it was given to.
   *
   * @throws ServiceAuthError when a refused credential of the site cannot be renewed because its provider fails.
   * @throws UpstreamError when there is no response.
   */
  async send(message: PlatformMessage, caller: CallContext): Promise<PlatformReply> {
    const { counterpart, body } = message;
    const { credential } = caller;
    // (a)
    const response = await this.dispatch(message, credential);
    if (response.status !== 401) return { response, counterpart, credential };
    // (b) Without another credential, the refusal stands.
    const renewed = await this.renew(caller, response);
    if (renewed === undefined || isStream(body)) return { response, counterpart, credential };
    discard(response.body);
    // (c) A 401 says that nothing was done (RFC 9110 §15.5.2), so the same body may be sent again.
    return { response: await this.dispatch(message, renewed), counterpart, credential: renewed };
  }

  /**
   * Another credential in place of a refused one; absent when there is nothing to renew.
   *
   * @throws ServiceAuthError when the provider fails; the refusal is discarded then.
   */
  async renew({ auth, request, credential }: CallContext, refusal: HttpResponse): Promise<Credential | undefined> {
    try {
      return await this.#deps.credentials.renew(auth, credential, request, String(refusal.headers['date'] ?? ''));
    } catch (error) {
      discard(refusal.body);
      throw error;
    }
  }

  /**
   * Sends the request with this credential and no other; without one, as a stranger.
   *
   * @throws UpstreamError when there is no response.
   */
  async dispatch(message: PlatformMessage, credential: Credential | undefined): Promise<HttpResponse> {
    const { counterpart, timeouts, method, origin, path, browser, further, own, contentType, body, signal } = message;
    const fields = own === undefined ? credential?.headers : { ...credential?.headers, ...own, ...credential?.own };
    const headers = upstreamRequestHeaders(browser, fields ?? {}, further, contentType);
    // The spread comes first: the engine copies a whole object in one step, and one into another field by field.
    const request = { ...timeouts, method, origin, path, headers, body, signal };
    let outcome = await this.#deps.upstream.send(request);
    if (outcome.kind === 'failure') outcome = await repeated(request, outcome, this.#deps);
    if (outcome.kind === 'response') return outcome.response;
    throw noResponse(outcome, counterpart, message.isRepeatable ?? IDEMPOTENT.has(method));
  }
}

type Failure = Extract<UpstreamOutcome, { kind: 'failure' }>;

/** Long enough for a port that is just being opened again, short enough for a visitor. */
const PAUSE_MS = 100;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * The outcome of a second try of a failed request, where that can do nothing twice; otherwise the failure. The only place that decides so:
 *
 * - nothing was sent, because there was no connection: any method, after a pause;
 * - it was sent on a connection that the platform may have closed before: GET and HEAD, on a new one.
 *
 * Everything else may have been done already: what is sent once stays sent once.
 */
export async function repeated(
  request: UpstreamRequest,
  failure: Failure,
  { upstream, telemetry, pause }: Pick<PlatformCallDependencies, 'upstream' | 'telemetry' | 'pause'>,
): Promise<UpstreamOutcome> {
  const cause = retryCause(request, failure);
  if (cause === undefined) return failure;
  telemetry.emit({ type: 'retry', method: request.method, cause, detail: failure.detail });
  if (cause === 'no_connection') await pause(PAUSE_MS, request.signal);
  return upstream.send(request);
}

function retryCause(
  { method, body }: UpstreamRequest,
  { reason, sent }: Failure,
): 'no_connection' | 'stale_connection' | undefined {
  if (isStream(body)) return undefined;
  // A deadline is over, and an aborted request has no reader.
  if (sent === 'nothing') return reason === 'unreachable' || reason === 'reset' ? 'no_connection' : undefined;
  return sent === 'on-stale-connection' && SAFE_METHODS.has(method) ? 'stale_connection' : undefined;
}

/** An address of agent or platform, split once so that no request parses it again. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The raw path, without a query; `/` when there is none. */
  readonly path: string;
}

/**
 * Splits a configured address.
 *
 * @throws ConfigurationError when it is no absolute http or https address, or carries user names, a query or a fragment.
 */
export function endpoint(field: string, address: string): Endpoint {
  const trimmed = address.trim();
  const parts = /^(https?:\/\/)([^/?#\\@\s]+)(\/(?:(?![?#\\])[\x21-\x7e])*)?$/i.exec(trimmed);
  if (parts === null || !URL.canParse(trimmed)) {
    throw new ConfigurationError({
      detail: `Invalid URL in "${field}".`,
      hint: `Set "${field}" to an absolute http or https address without user name, query or fragment, such as https://platform.example/a2a.`,
      block: 'configureServer',
      fields: [field],
    });
  }
  return { origin: `${(parts[1] ?? '').toLowerCase()}${parts[2] ?? ''}`, path: parts[3] ?? '/' };
}

/**
 * The endpoint, or the error a visitor gets while the site has not configured it (a missing field is reported when it is first needed).
 *
 * @throws ServiceAuthError naming the field.
 */
export function requireEndpoint(field: string, known: Endpoint | undefined): Endpoint {
  if (known !== undefined) return known;
  throw new ServiceAuthError('service_auth_failed', {
    detail: `The server does not know the address of the ${field === 'a2aUrl' ? 'agent' : 'platform'}.`,
    hint: `Set "${field}" in configureServer.`,
    block: 'configureServer',
    fields: [field],
  });
}
