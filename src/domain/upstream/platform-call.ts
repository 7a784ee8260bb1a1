import type {
  HeaderFields,
  HttpResponse,
  HttpUpstream,
  RequestContext,
  UpstreamOutcome,
  UpstreamRequest,
} from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { challengedClaims } from '../credentials/claims-request.js';
import { type Credential, notSet, sessionError } from '../credentials/credential.js';
import { withLog } from '../credentials/site-results.js';
import { type CredentialBroker, withSiteFields } from '../credentials/credential-broker.js';
import type { MessageFacts, RouteAuth } from '../credentials/route-auth.js';
import { discard, isStream } from '../shared/body.js';
import { siteFailed } from '../shared/errors.js';
import { invalidField } from '../shared/setting.js';
import { type Counterpart, noResponse, type PlatformErrors, type PlatformReply } from './platform-error.js';
import { upstreamRequestHeaders } from '../shared/header-policy.js';

/** The error for an `upstream` of the site's own. */
const upstreamFailed = siteFailed('upstream', 'The platform could not be called.');

export interface PlatformCallDependencies {
  readonly upstream: HttpUpstream;
  readonly credentials: CredentialBroker;
  readonly errors: PlatformErrors;
  readonly telemetry: Telemetry;
  /** Resolves after a delay, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The time limits of one kind of call. */
export type CallTimeouts = Pick<UpstreamRequest, 'headersMs' | 'bodyIdleMs' | 'bodyMs' | 'streamIdleMs'>;

/** One request to the platform, without its credential. */
export interface PlatformMessage extends Pick<UpstreamRequest, 'method' | 'origin' | 'path' | 'body' | 'signal'> {
  readonly counterpart: Counterpart;
  readonly timeouts: CallTimeouts;
  /** The browser's fields, of which the allowed ones are forwarded. */
  readonly browser: HeaderFields;
  /** Names of additional fields to forward. */
  readonly further?: readonly string[];
  /** Our own fields: they override the site's, and the credential's override them. */
  readonly own?: HeaderFields;
  /** Media type the body was checked as, sent without the browser's parameters. If absent, the browser's field is forwarded. */
  readonly contentType?: string | undefined;
  /** True if it may be sent again although its outcome is unknown. Default: by its method (RFC 9110 §9.2.2). */
  readonly isRepeatable?: boolean;
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** The caller a request is sent for. */
export class Caller {
  readonly auth: RouteAuth;
  readonly request: RequestContext;
  /** The credential of this request. */
  readonly credential: Credential;

  constructor(auth: RouteAuth, request: RequestContext, credential: Credential) {
    this.auth = auth;
    this.request = request;
    this.credential = credential;
  }

  /** The caller with the fields that the site makes for this message, or for a look-up. The same one if it makes none. */
  about(message?: MessageFacts): Caller | Promise<Caller> {
    const { auth, request, credential } = this;
    if (auth.fields?.make === undefined) return this;
    return withSiteFields(credential, auth.fields, request, message).then((one) => new Caller(auth, request, one));
  }
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
   * The caller with the credential for one request. Fields that the site makes for each message wait for `about`, if it
   * is `of` a message.
   *
   * @throws ServiceAuthError and SessionError when there is no credential.
   */
  caller(auth: RouteAuth, request: RequestContext, of?: 'message'): Promise<Caller> {
    const isLater = of === 'message' && auth.fields?.make !== undefined;
    const obtained = isLater ? { ...auth, fields: undefined } : auth;
    return this.#deps.credentials.obtain(obtained, request).then((credential) => new Caller(auth, request, credential));
  }

  /**
   * The response once its head has arrived, whatever its status, and the credential it was sent with.
   *
   * @throws ServiceAuthError when a rejected credential of the site cannot be renewed because its provider fails.
   * @throws UpstreamError when there is no response.
   */
  async send(message: PlatformMessage, caller: Caller): Promise<PlatformReply> {
    const { counterpart, body } = message;
    const credential = counterpart.isPlatform === true ? caller.credential.forPlatform : caller.credential;
    // (a)
    const response = await this.dispatch(message, credential);
    if (response.status !== 401) return { response, counterpart, credential };
    // (b) Without another credential, the rejection is the response.
    const renewed = await this.renew(caller, response);
    if (renewed === undefined || isStream(body)) return answered(caller, { response, counterpart, credential });
    discard(response.body);
    // (c) A 401 means the request was not executed (RFC 9110 §15.5.2), so the same body may be sent again.
    return answered(caller, { response: await this.dispatch(message, renewed), counterpart, credential: renewed });
  }

  /**
   * Another credential in place of a rejected one; absent if nothing can be renewed.
   *
   * @throws ServiceAuthError when the provider fails; the refusal is discarded then.
   */
  async renew({ auth, request, credential }: Caller, refusal: HttpResponse): Promise<Credential | undefined> {
    try {
      return await this.#deps.credentials.renew(auth, credential, request, String(refusal.headers['date'] ?? ''));
    } catch (error) {
      discard(refusal.body);
      throw error;
    }
  }

  /**
   * Sends the request with this credential only; without one, unauthenticated.
   *
   * @throws UpstreamError when there is no response.
   */
  async dispatch(message: PlatformMessage, credential: Credential | undefined): Promise<HttpResponse> {
    const { counterpart, timeouts, method, origin, path, browser, further, own, contentType, body, signal } = message;
    const fields = own === undefined ? credential?.headers : { ...credential?.headers, ...own, ...credential?.own };
    const headers = upstreamRequestHeaders(browser, fields ?? {}, further, contentType);
    // The spread comes last: each property that follows one costs as much as all of this object.
    const request = { method, origin, path, headers, body, signal, ...timeouts };
    let outcome = await this.#deps.upstream.send(request);
    if (outcome?.kind === 'failure')
      outcome = await repeated(request, withLog(outcome, '"send"', this.#deps.telemetry), this.#deps);
    if (outcome?.kind === 'response') return outcome.response;
    if (outcome?.kind !== 'failure')
      throw upstreamFailed('"send" returned no known "kind": return a response or a failure');
    throw noResponse(outcome, counterpart, message.isRepeatable ?? IDEMPOTENT.has(method));
  }
}

/**
 * The reply, unless it requests claims of the signed-in user's next sign-in.
 *
 * @throws SessionError `interaction_required` with the claims.
 */
function answered({ auth }: Caller, reply: PlatformReply): PlatformReply {
  const { status, headers, body } = reply.response;
  const claims = status === 401 && auth.kind === 'session' ? challengedClaims(headers['www-authenticate']) : undefined;
  if (claims === undefined) return reply;
  discard(body);
  throw sessionError('interaction', `the platform requests claims ${claims}`, claims);
}

type Failure = Extract<UpstreamOutcome, { kind: 'failure' }>;

/** Long enough for a restarting server to open its port, short enough for a visitor. */
const PAUSE_MS = 100;

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Retries a failed request if that cannot repeat its effect; otherwise returns the failure. The only place that decides
 * this:
 *
 * - not sent, because there was no connection: any method, after a pause;
 * - sent on a connection that the platform may have closed before: GET and HEAD, on a new one.
 *
 * Any other request may have been executed already, so it is never sent again.
 */
export async function repeated(
  request: UpstreamRequest,
  failure: Failure,
  { upstream, telemetry, pause }: Pick<PlatformCallDependencies, 'upstream' | 'telemetry' | 'pause'>,
): Promise<UpstreamOutcome> {
  const cause = retryCause(request, failure);
  if (cause === undefined) return failure;
  telemetry.emit({ type: 'retry', method: request.method, cause, detail: failure.log });
  if (cause === 'no_connection') await pause(PAUSE_MS, request.signal);
  return upstream.send(request);
}

function retryCause(
  { method, body }: UpstreamRequest,
  { reason, sent }: Failure,
): 'no_connection' | 'stale_connection' | undefined {
  if (isStream(body)) return undefined;
  // A deadline has passed, and an aborted request has no reader.
  if (sent === 'nothing') return reason === 'unreachable' || reason === 'reset' ? 'no_connection' : undefined;
  return sent === 'on-stale-connection' && SAFE_METHODS.has(method) ? 'stale_connection' : undefined;
}

/** An address of agent or platform, parsed once instead of per request. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The raw path, without a query; `/` if there is none. */
  readonly path: string;
}

/**
 * Parses a configured address.
 *
 * @throws ConfigurationError when it is not an absolute http or https address, or has a user name, a query or a fragment.
 */
export function endpoint(field: string, address: string): Endpoint {
  const trimmed = address.trim();
  const parts = /^(https?:\/\/)([^/?#\\@\s]+)(\/(?:(?![?#\\])[\x21-\x7e])*)?$/i.exec(trimmed);
  if (parts === null || !URL.canParse(trimmed)) {
    const hint = `Set "${field}" to an absolute http or https address without user name, query or fragment, such as https://platform.example/a2a.`;
    throw invalidField(field, `Invalid URL in "${field}".`, hint);
  }
  return { origin: `${(parts[1] ?? '').toLowerCase()}${parts[2] ?? ''}`, path: parts[3] ?? '/' };
}

/**
 * The endpoint, or an error for the visitor if the site has not configured it (a missing field is reported when it is
 * first needed).
 *
 * @throws ServiceAuthError naming the field.
 */
export function requireEndpoint(field: string, known: Endpoint | undefined): Endpoint {
  if (known !== undefined) return known;
  const party = field === 'a2aUrl' ? 'agent' : 'platform';
  throw notSet(`No address is configured for the ${party}.`, `Set "${field}" in configureServer.`, field);
}
