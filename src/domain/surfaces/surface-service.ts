import type { HttpBody, HttpRequest, HttpResponse } from '../../ports/http.js';
import { credentialScope } from '../credentials/credential.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { readAhead } from '../upstream/body-bytes.js';
import { discard, endingWith, isStream, mediaType } from '../shared/body.js';
import { delimited } from '../shared/json.js';
import {
  browserResponseHeaders,
  choosingFields,
  choosingValues,
  RENDER_RESPONSE_FIELDS,
} from '../shared/header-policy.js';
import type { Caller, Endpoint, PlatformMessage } from '../upstream/platform-call.js';
import { refuseRedirect, PLATFORM, type PlatformReply, refusesSite } from '../upstream/platform-error.js';
import {
  type PlatformApiCalls,
  platformFields,
  type PlatformPathName,
  platformTarget,
  requireTarget,
} from '../upstream/platform-api.js';
import { isCacheable } from './cached-render.js';
import type { CacheStatus, RenderCache, RenderReply, WidgetCheck } from './render-cache.js';
import type { RenderScope, RenderSubject } from './render-keys.js';
import { surfaceNames, type SurfaceRef } from './surface-ref.js';
import { themeResponse, type ThemeStyles, ThemeTags } from './theme.js';

/** A request to a surface whose body the web adapter has read. */
export interface SurfaceRequest {
  readonly head: Pick<HttpRequest, 'headers' | 'native' | 'query' | 'signal'>;
  /** The JSON text that will be sent; null if there is none. */
  readonly body: Uint8Array | null;
  /** The media type of that body, without parameters. */
  readonly contentType?: string;
}

export interface SurfaceServiceDependencies extends PlatformApiCalls {
  readonly styles: ThemeStyles;
}

/** Bytes of an action's response that are read to find the surface it names. */
const NAMED_REPLY_LIMIT = 65_536;

/**
 * Renders widgets, submits their actions and fetches their themes.
 *
 *     browser ──(1) credential──► (2) cache ──► (3) send, renewed once on 401 ──► platform
 *     browser ◄──(5) body──────── (4) response
 */
export class SurfaceService {
  readonly #deps: SurfaceServiceDependencies;

  constructor(dependencies: SurfaceServiceDependencies) {
    this.#deps = dependencies;
  }

  /**
   * A widget for this caller, from `cache` if it has a recent one. `x-cache` names the source of the render.
   *
   * @throws ServiceAuthError when there is no service credential, or the platform refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the platform sends no response that can be passed on.
   */
  async render(
    ref: SurfaceRef,
    request: SurfaceRequest,
    auth: RouteAuth,
    cache: RenderCache | undefined,
  ): Promise<HttpResponse> {
    requireTarget(this.#deps.api, pathName(ref, 'render'));
    // (1)
    const caller = await this.#deps.call.caller(auth, request.head);
    const render = (signal = request.head.signal): Promise<RenderReply> => this.#render(ref, request, caller, signal);
    // (2)
    const subject = cache && this.#subject(ref, request, caller);
    if (cache === undefined || subject === undefined) {
      return marked((await render()).response, 'BYPASS');
    }
    const check = (etag: string, signal: AbortSignal): Promise<WidgetCheck> =>
      this.#check(ref, etag, request, caller, signal);
    const { response, status } = await cache.render(subject, { render, check });
    return marked(response, status);
  }

  /**
   * The result of an action. Sent once, and again only after a 401, which means the action was not executed.
   *
   * @throws ServiceAuthError, SessionError and UpstreamError as `render` does.
   */
  async action(
    ref: SurfaceRef,
    action: string,
    request: SurfaceRequest,
    auth: RouteAuth,
    cache: RenderCache | undefined,
  ): Promise<HttpResponse> {
    const target = this.#target(ref, 'action', { action });
    const caller = await this.#deps.call.caller(auth, request.head);
    const scope = cache && this.#scope(caller);
    const invalidate = async (reply?: Uint8Array): Promise<void> => {
      if (cache !== undefined && scope !== undefined) await cache.invalidate(scope, ref, surfaceNames(reply));
    };
    let response: HttpResponse;
    try {
      const reply = await this.#deps.call.send(this.#message('POST', target, request, request.head.signal), caller);
      refuseRedirect(reply.response, PLATFORM);
      const passed = await this.#deps.call.errors.toBrowserResponse(reply);
      response = { ...passed, headers: browserResponseHeaders(passed.headers, reply.credential.fields?.response) };
    } catch (error) {
      // The action may have been executed all the same.
      await invalidate();
      throw error;
    }
    if (scope === undefined) return response;
    if (mediaType(response.headers) !== 'application/json') {
      await invalidate();
      return { ...response, body: followed(response.body, invalidate) };
    }
    const read = await readAhead(response.body, NAMED_REPLY_LIMIT);
    await invalidate(read.complete ? read.bytes : undefined);
    return { ...response, body: read.complete ? read.bytes : followed(read.body, invalidate) };
  }

  /**
   * The style sheet of a surface, checked; 304 if the browser has it already.
   *
   * @throws UpstreamError when the platform does not return a style sheet, or one that cannot be checked.
   */
  async theme(ref: SurfaceRef, request: SurfaceRequest, auth: RouteAuth): Promise<HttpResponse> {
    const target = this.#target(ref, 'theme');
    const caller = await this.#deps.call.caller(auth, request.head);
    const message = this.#message('GET', target, request, request.head.signal);
    const tags = new ThemeTags(this.#deps.styles.rulesName, request.head.headers['if-none-match']);
    const { forPlatform: tag } = tags;
    const own = { ...message.own, ...(tag !== undefined && { 'if-none-match': tag }) };
    const reply = await this.#deps.call.send({ ...message, own }, caller);
    return themeResponse(await this.#deps.call.errors.toBrowserResponse(reply), tags, this.#deps.styles, auth.fields);
  }

  async #render(ref: SurfaceRef, request: SurfaceRequest, caller: Caller, signal: AbortSignal): Promise<RenderReply> {
    const target = this.#target(ref, 'render');
    // (3) Repeatable: rendering has no effect.
    const message = { ...this.#message('POST', target, request, signal), isRepeatable: true };
    const reply = await this.#deps.call.send(message, caller);
    // (4), (5)
    refuseRedirect(reply.response, PLATFORM);
    const passed = await this.#deps.call.errors.toBrowserResponse(reply);
    const further = [...RENDER_RESPONSE_FIELDS, ...(reply.credential.fields?.response ?? [])];
    const { status, headers, body } = passed;
    const response = { status, headers: browserResponseHeaders(headers, further), body };
    return { response, isCacheable: isCacheable(passed) && isOfReader(caller, reply), etag: etagOf(passed) };
  }

  /** Checks if the widget is unchanged since an earlier render. A GET, because a POST has no 304 (RFC 9110 §13.1.2). */
  async #check(
    ref: SurfaceRef,
    etag: string,
    { head }: SurfaceRequest,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<WidgetCheck> {
    const { 'accept-language': language, traceparent, tracestate } = head.headers;
    const browser = { headers: { 'accept-language': language, traceparent, tracestate }, query: '' };
    const message = this.#message('GET', this.#target(ref, 'surface'), { head: browser, body: null }, signal);
    const own = { ...message.own, accept: 'application/json', ...(etag !== '' && { 'if-none-match': etag }) };
    const reply = await this.#deps.call.send({ ...message, own }, caller);
    const { response } = reply;
    // The render would be refused too.
    if (response.status === 401 && refusesSite(reply)) throw await this.#deps.call.errors.replacing(reply);
    discard(response.body);
    if (!isOfReader(caller, reply)) return { kind: 'unknown' };
    switch (response.status) {
      case 304:
        return etag === '' ? { kind: 'unknown' } : { kind: 'unchanged' };
      case 200:
        return { kind: 'changed', etag: etagOf(response) };
      case 404:
      case 405:
      case 501:
        return { kind: 'unsupported' };
      default:
        return { kind: 'unknown' };
    }
  }

  #message(
    method: string,
    { origin, path }: Endpoint,
    { head, body, contentType }: SentRequest,
    signal: AbortSignal,
  ): PlatformMessage {
    const own = platformFields(this.#deps.api);
    return {
      counterpart: PLATFORM,
      timeouts: this.#deps.timeouts,
      method,
      origin,
      path: path + head.query,
      browser: head.headers,
      own,
      ...(contentType === undefined ? {} : { contentType }),
      body,
      signal,
    };
  }

  #target(ref: SurfaceRef, operation: SurfaceOperation, values = {}): Endpoint {
    return platformTarget(this.#deps.api, pathName(ref, operation), { ...values, [ref.by]: ref.value });
  }

  #subject(ref: SurfaceRef, { head, body }: SurfaceRequest, caller: Caller): RenderSubject | undefined {
    const scope = this.#scope(caller);
    if (scope === undefined) return undefined;
    const input: unknown[] = [head.query, ...choosingValues(head.headers)];
    // Not part of the scope, because an action invalidates all renders of its caller, whatever fields were sent with it.
    const { forwarded, response = [] } = caller.credential.fields ?? {};
    const { principal, reader } = caller.credential.owner;
    if (reader !== principal) input.push(reader);
    const chosen = choosingFields(forwarded);
    // A cached render holds the fields this route lets through, which another route may not.
    if (chosen.length > 0 || response.length > 0) input.push(chosen, response);
    return { scope, ref, input, body };
  }

  #scope({ credential }: Caller): RenderScope | undefined {
    const who = credentialScope(credential);
    return who && delimited(this.#deps.api.platformKey) + who;
  }
}

type SentRequest = Omit<SurfaceRequest, 'head'> & { readonly head: Pick<HttpRequest, 'headers' | 'query'> };
type SurfaceOperation = 'surface' | 'render' | 'action' | 'theme';

function pathName({ by }: SurfaceRef, operation: SurfaceOperation): PlatformPathName {
  return by === 'id' ? operation : `${operation}ByName`;
}

/** True if the response is for the caller its request began with: a renewed token may be for another organization. */
function isOfReader({ credential }: Caller, reply: PlatformReply): boolean {
  return reply.credential === credential || reply.credential.owner.reader === credential.owner.reader;
}

function etagOf({ headers }: Pick<HttpResponse, 'headers'>): string {
  const { etag } = headers;
  return typeof etag === 'string' ? etag : '';
}

/** A response that names its source; stored ones name the cache already. */
function marked(response: HttpResponse, status: CacheStatus): HttpResponse {
  if (response.headers['x-cache'] === status) return response;
  return { ...response, headers: { ...response.headers, 'x-cache': status } };
}

/** A body that invalidates renders again at its end: a stream may report work that continues meanwhile. */
function followed(body: HttpBody, end: () => Promise<void>): HttpBody {
  return isStream(body) ? endingWith(body, () => end()) : body;
}
