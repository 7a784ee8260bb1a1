import type {
  HeaderFields,
  HttpBody,
  HttpResponse,
  HttpUpstream,
  RequestContext,
  UpstreamOutcome,
} from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import type { CredentialBroker } from '../credentials/credential-broker.js';
import { obtainCredential, renewCredential, type RouteAuth } from '../credentials/route-auth.js';
import { discard, isStream } from '../shared/body.js';
import { upstreamRequestHeaders } from './header-policy.js';
import type { ErrorExcerpts } from './error-excerpts.js';
import { type Counterpart, locationOf, quoted, redirected } from './wrong-address.js';
import { PlatformErrors, type PlatformReply } from './platform-error.js';
import { UpstreamError } from '../errors.js';

/** What calls to the platform are made with. */
export interface PlatformCallDependencies {
  readonly upstream: HttpUpstream;
  readonly credentials: CredentialBroker;
  readonly excerpts: ErrorExcerpts;
  readonly headersMs: number;
  readonly bodyIdleMs: number;
  /** Milliseconds for a whole response that is no event stream. Default: any. */
  readonly bodyMs?: number;
  /** Milliseconds of silence in an event stream. Default: any. */
  readonly streamIdleMs?: number;
}

/** One request to the platform, but for its credential. */
export interface PlatformMessage {
  readonly method: string;
  readonly origin: string;
  /** Raw path and query. */
  readonly path: string;
  /** The browser's fields; those that may cross do. */
  readonly browser: HeaderFields;
  /** Names of fields that may cross here besides the usual ones. */
  readonly further?: readonly string[];
  /** Fields of our own: they win over those of the site's own, and the credential's over them. */
  readonly own?: HeaderFields;
  /** Media type of a body that was judged as such, sent without the browser's parameters; absent: the browser's field crosses. */
  readonly contentType?: string;
  readonly body: HttpBody;
  /** Whether it may be sent again though nobody knows what became of it. Default: as its method says (RFC 9110 §9.2.2). */
  readonly isRepeatable?: boolean;
  readonly signal: AbortSignal;
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** On whose behalf a request is sent. */
export interface CallContext {
  readonly auth: RouteAuth;
  readonly request: RequestContext;
  /** The credential of this request. */
  readonly credential: Credential;
}

/**
 * Sends one request to the platform with a credential, and once more when that was refused and can be renewed.
 *
 *     (a) send ──► (b) 401? renew ──► (c) send again, once
 */
export class PlatformCall {
  /** What becomes of responses of 400 and above. */
  readonly errors: PlatformErrors;
  readonly #deps: PlatformCallDependencies;
  readonly #counterpart: Counterpart;
  readonly #deadlines: Pick<PlatformCallDependencies, 'headersMs' | 'bodyIdleMs' | 'bodyMs' | 'streamIdleMs'>;

  constructor(dependencies: PlatformCallDependencies, counterpart: Counterpart) {
    this.#deps = dependencies;
    this.#counterpart = counterpart;
    this.errors = new PlatformErrors(dependencies.excerpts, counterpart);
    const { headersMs, bodyIdleMs, bodyMs, streamIdleMs } = dependencies;
    this.#deadlines = {
      headersMs,
      bodyIdleMs,
      ...(bodyMs === undefined ? {} : { bodyMs }),
      ...(streamIdleMs === undefined ? {} : { streamIdleMs }),
    };
  }

  /**
   * Who calls, and with what.
   *
   * @throws ServiceAuthError and SessionError when there is no credential.
   */
  async caller(auth: RouteAuth, request: RequestContext): Promise<CallContext> {
    return { auth, request, credential: await obtainCredential(this.#deps.credentials, auth, request) };
  }

  /**
   * The response as soon as its head is there, whatever its status, and the credential it was given to.
   *
   * @throws ServiceAuthError when a refused credential of the site cannot be renewed because its provider fails.
   * @throws UpstreamError when there is no response.
   */
  async send(message: PlatformMessage, caller: CallContext): Promise<PlatformReply> {
    // (a)
    const { credential } = caller;
    const response = await this.#dispatch(message, credential);
    if (response.status !== 401) return { response, credential };
    // (b) Where nothing else is given in its place, the refusal stands.
    const renewed = await this.#renew(caller, response);
    if (renewed === undefined || isStream(message.body)) return { response, credential };
    discard(response.body);
    // (c) A 401 says that nothing was done (RFC 9110 §15.5.2), so the same body may be sent again.
    return { response: await this.#dispatch(message, renewed), credential: renewed };
  }

  async #renew({ auth, request, credential }: CallContext, refusal: HttpResponse): Promise<Credential | undefined> {
    try {
      const date = String(refusal.headers['date'] ?? '');
      return await renewCredential(this.#deps.credentials, auth, credential, request, date);
    } catch (error) {
      discard(refusal.body);
      throw error;
    }
  }

  async #dispatch(message: PlatformMessage, credential: Credential): Promise<HttpResponse> {
    const { method, origin, path, browser, further, own, contentType, body, signal } = message;
    const { upstream } = this.#deps;
    const fields = own === undefined ? credential.headers : { ...credential.headers, ...own, ...credential.own };
    const headers = upstreamRequestHeaders(browser, fields, further, contentType);
    // The spread comes first: the engine copies a whole object in one step, and one into another field by field.
    const outcome = await upstream.send({ ...this.#deadlines, method, origin, path, headers, body, signal });
    return responseOrThrow(outcome, this.#counterpart, message.isRepeatable ?? IDEMPOTENT.has(method));
  }
}

export const AGENT: Counterpart = {
  name: 'agent',
  fields: ['a2aUrl'],
  check: 'check "a2aUrl" in configureServer: it has to be the JSON-RPC endpoint of the agent',
  expected: 'JSON or a stream of events',
};
export const PLATFORM: Counterpart = {
  name: 'platform',
  fields: ['serviceApiUrl'],
  check: 'check "serviceApiUrl" in configureServer',
  expected: 'what was asked for',
  holdsMany: true,
};

/**
 * The response of an outcome.
 *
 * `isRepeatable`: whether the same request may be sent again though nobody knows what became of the first (RFC 9110 §9.2.2).
 * An agent that was late may have done its work, and a second message would have it done twice.
 *
 * @throws UpstreamError when there is none.
 */
export function responseOrThrow(
  outcome: UpstreamOutcome,
  { name, fields }: Counterpart,
  isRepeatable: boolean,
): HttpResponse {
  if (outcome.kind === 'response') return outcome.response;
  const log = outcome.detail;
  const retryable = isRepeatable || outcome.sent === 'nothing';
  const place = { block: 'configureServer', fields };
  const where = `${quoted(fields)} in configureServer`;
  switch (outcome.reason) {
    case 'timeout':
      throw new UpstreamError('upstream_timeout', {
        detail: `The ${name} did not answer in time.`,
        hint: `If it needs longer, raise "headersMs" in the "timeouts" configuration block. If it never answers, check ${where}.`,
        ...place,
        retryable,
        log,
      });
    case 'invalid':
      throw new UpstreamError('upstream_invalid_response', {
        detail: `The ${name} sent a response that is not valid HTTP.`,
        hint: `Check scheme and port of ${where}.`,
        ...place,
        log,
      });
    case 'unreachable':
    case 'reset': {
      const cause = outcome.reason === 'reset' ? ': a server that expects https ends a request without it' : '';
      throw new UpstreamError('upstream_unreachable', {
        detail: `The ${name} cannot be reached.`,
        hint: `If this lasts, check that the ${name} runs, and ${where}${cause}.`,
        ...place,
        retryable: outcome.reason === 'unreachable' || retryable,
        log,
      });
    }
    case 'aborted':
      // Nobody reads it, and there is nothing to mend.
      throw new UpstreamError('upstream_unreachable', {
        detail: `The ${name} cannot be reached.`,
        retryable,
        log,
      });
  }
}

/**
 * Lets everything pass but redirects, which are neither followed nor passed on.
 *
 * @throws UpstreamError `upstream_redirect`.
 */
export async function refuseRedirect({ status, headers, body }: HttpResponse, counterpart: Counterpart): Promise<void> {
  if (status < 300 || status >= 400) return;
  discard(body);
  const to = locationOf(headers);
  throw new UpstreamError('upstream_redirect', {
    ...redirected(headers, counterpart),
    log: `status ${String(status)} from the ${counterpart.name}${to === '' ? '' : `, to ${to}`}`,
  });
}
