import type { HeaderFields, HttpBody, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { AgentBffError, RequestError } from '../shared/errors.js';
import { isStream } from '../shared/body.js';
import {
  browserResponseHeaders,
  RECORD_ERROR_FIELDS,
  RECORD_REQUEST_FIELDS,
  RECORD_RESPONSE_FIELDS,
} from '../shared/header-policy.js';
import { refuseRedirect, PLATFORM } from '../upstream/platform-error.js';
import { type PlatformApiCalls, platformFields, platformTarget } from '../upstream/platform-api.js';
import { isSafePath, isSafeQuery } from '../upstream/safe-path.js';

/** A request for conversation records whose body has not been read. */
export type ConversationRequest = Omit<HttpRequest, 'bodyConsumed' | 'publicUrl'>;

/** The auth of a route that always needs a session. */
export type SessionRequired = RouteAuth<'session'> & { readonly required: true };

// TRACE and TRACK echo the request, credentials included; CONNECT leaves HTTP.
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** True for methods that are forwarded: all except those that would reveal the credential. */
export function isForwardedMethod(method: string): boolean {
  return !REFUSED_METHODS.has(method.toUpperCase());
}

/**
 * Forwards requests of signed-in users to the platform unchanged.
 *
 *     browser ──(1) path, method──► (2) session ──► (3) send, body and all ──► platform
 *     browser ◄─────────────────── (4) response, streamed ◄──
 */
export class ConversationProxy {
  readonly #deps: PlatformApiCalls;

  constructor(dependencies: PlatformApiCalls) {
    this.#deps = dependencies;
  }

  /**
   * The platform's response once its head has arrived; both bodies stream.
   *
   * @throws RequestError when the path could leave the platform's API, or the request must not be forwarded.
   * @throws SessionError without a session, before anything is sent.
   * @throws UpstreamError when the platform sends no response that can be passed on.
   */
  async forward(request: ConversationRequest, auth: SessionRequired): Promise<HttpResponse> {
    // (1)
    checkRequest(request);
    const { method, path, query, headers, body, signal } = request;
    const { call, timeouts, api } = this.#deps;
    const target = platformTarget(api, 'conversations', { path: path.slice(1) });
    // (2)
    const caller = await call.caller(auth, request);
    // (3)
    const reply = await call.send(
      {
        counterpart: PLATFORM,
        timeouts,
        method,
        origin: target.origin,
        path: target.path + query,
        browser: fieldsFor(body, headers),
        further: RECORD_REQUEST_FIELDS,
        own: platformFields(api),
        body,
        signal,
      },
      caller,
    );
    // (4) A 304 is the response to the browser's own conditional request.
    if (reply.response.status !== 304) refuseRedirect(reply.response, PLATFORM);
    const response = await call.errors.toBrowserResponse(reply, RECORD_ERROR_FIELDS);
    const further = [...RECORD_RESPONSE_FIELDS, ...(reply.credential.fields?.response ?? [])];
    return { ...response, headers: browserResponseHeaders(response.headers, further) };
  }
}

function checkRequest({ path, query, headers }: ConversationRequest): void {
  if (!isSafePath(path) || !isSafeQuery(query))
    throw new AgentBffError('not_found', { detail: 'There is no such route.' });
  // Any other upgrade may be ignored (RFC 9110 §7.8), but a WebSocket client that is ignored keeps waiting.
  if (/\bwebsocket\b/i.test(String(headers['upgrade'] ?? ''))) {
    throw new RequestError('upgrade_unsupported', {
      detail: 'This route forwards HTTP only; WebSocket is not supported.',
      hint: 'Read the records by HTTP; responses may stream.',
    });
  }
}

/** The fields that describe a streamed body. For any other body the length is known from the body itself, and text is sent as UTF-8. */
function fieldsFor(body: HttpBody, headers: HeaderFields): HeaderFields {
  if (isStream(body)) return headers;
  const { 'content-length': _length, 'content-type': type, ...rest } = headers;
  return {
    ...rest,
    'content-type': typeof body === 'string' && typeof type === 'string' ? withoutCharset(type) : type,
  };
}

function withoutCharset(type: string): string {
  const [name = '', ...parameters] = type.split(';');
  return [name, ...parameters.filter((parameter) => !parameter.toLowerCase().includes('charset'))].join(';');
}
