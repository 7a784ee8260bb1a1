import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { mayHoldSession, type RouteAuth } from '../../domain/credentials/route-auth.js';
import { discard, isBodiless, isEventStream, isStream } from '../../domain/shared/body.js';
import { browserFields } from '../../domain/upstream/browser-fields.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { checkOrigin, checkVisitor } from './admission.js';
import {
  type ErrorContext,
  errorContext,
  type ErrorForm,
  errorResponse,
  methodNotAllowed,
  notFound,
} from './error-response.js';
import type { BodyShare } from './request-body.js';
import { EventStream, ObservedBody } from './response-body.js';
import type { SiteSettings } from './site-settings.js';
import { isPlain, StreamWatch } from './stream-watch.js';

/** The site of a route, and the credential it attaches. */
export interface RouteMount {
  readonly site: SiteSettings;
  readonly auth: RouteAuth;
  /** Set if the route knows its visitors. */
  readonly visitor?: unknown;
}

/**
 * The pages that may use a route. A request that changes something always needs a page of the site; the values differ
 * in whether a page of another site may read.
 */
export type OriginRule =
  /** It may not. */
  | 'own-pages'
  /** It may, unless the route may hold a session. */
  | 'own-pages-with-session'
  /** It may, unless the route may hold a session or knows its visitors. */
  | 'own-pages-with-visitor';

/** The two allowances of a visitor: for messages, and for requests that follow a task. */
export type Allowance = 'message' | 'reading';

/** A request as far as it has been read. */
export interface Reading<Value> {
  /** Absent if it could not be read. */
  readonly value?: Value | undefined;
  /** The id that errors repeat, as JSON text. */
  readonly id?: string | undefined;
  /** The reason for refusing it, after it was counted. */
  readonly fault?: unknown;
  /** The share of its body in the memory of the process; the door releases it. */
  readonly share?: BodyShare | undefined;
}

/** Reads a request; an exception is a `fault`. */
export type Reader<Value, Place> = (
  request: HttpRequest,
  site: SiteSettings,
  place: Place,
) => Reading<Value> | Promise<Reading<Value>>;

/** The rules of one route. A new route states all of them: none has a default that could admit a request. */
export interface RouteRule<Value, Place> {
  /** Its name for operators. */
  readonly name: string;
  /** Reads the path of a request; `undefined` is answered with 404. Default: every path that reaches the route. */
  readonly place?: (request: HttpRequest) => Place | undefined;
  /** Its methods, as `Allow` lists them. */
  readonly methods: readonly string[] | ((place: Place) => readonly string[]);
  /** True for the methods it accepts. Default: those in `methods`. */
  readonly accepts?: (method: string) => boolean;
  readonly origin: OriginRule;
  /** The allowance that a request uses; `within` if the route itself calls `count`, for the requests that cost something. */
  readonly limit:
    'none' | 'within' | ((reading: { readonly place: Place; readonly value: Value | undefined }) => Allowance);
  readonly read: Reader<Value, Place>;
  /** The format of its errors. */
  readonly errors: ErrorForm;
}

/** One request that the door has admitted. */
export class Admitted<Value, Place> implements ErrorContext {
  readonly request: HttpRequest;
  readonly place: Place;
  readonly requestId: string;
  readonly route: string;
  /** Set once the request has been read. */
  value!: Value;
  /** The cookie that the response sets, written after the agent's fields, none of which may be a cookie. */
  cookie: string | undefined;
  /** Learns the facts of a chat call; absent if no listener asks for them. */
  chat: ChatWatch | undefined;
  readonly #mount: RouteMount;

  constructor(mount: RouteMount, route: string, request: HttpRequest, place: Place) {
    this.#mount = mount;
    this.route = route;
    this.request = request;
    this.place = place;
    this.requestId = mount.site.newRequestId();
  }

  get site(): SiteSettings {
    return this.#mount.site;
  }

  /**
   * Counts one request of the visitor.
   *
   * @throws RequestError `rate_limited`.
   */
  count(allowance: Allowance): Promise<void> {
    const { site, auth } = this.#mount;
    return checkVisitor(this.request, site, auth, allowance);
  }
}

/**
 * A handler behind the door. Only here a request reaches the domain: its page is checked, it is read and counted, and
 * then `serve` responds. Exceptions become responses, operators get an event, and a stream is observed until it ends.
 */
export function route<Value, Place = undefined>(
  rule: RouteRule<Value, Place>,
  mount: RouteMount,
  serve: (admitted: Admitted<Value, Place>) => HttpResponse | Promise<HttpResponse>,
): HttpHandler {
  const { name, limit } = rule;
  const { site } = mount;
  const readsAreChecked = checksReads(rule.origin, mount);
  const isCounted = limit !== 'none' && limit !== 'within' && (site.chatLimit ?? site.userLimit) !== undefined;
  return async (request) => {
    const place = rule.place?.(request) as Place;
    if (place === undefined && rule.place !== undefined) return notFound(request, errorContext(site, name));
    const methods = typeof rule.methods === 'function' ? rule.methods(place) : rule.methods;
    const isAccepted = rule.accepts?.(request.method) ?? methods.includes(request.method);
    if (!isAccepted) return methodNotAllowed(methods.join(', '), errorContext(site, name));
    const startedAt = site.clock.now();
    const admitted = new Admitted<Value, Place>(mount, name, request, place);
    let { errors } = rule;
    let share: BodyShare | undefined;
    let response: HttpResponse;
    try {
      checkOrigin(request, site.origins, readsAreChecked);
      const reading = await readingOf(rule.read, request, site, place);
      const { value, id, fault } = reading;
      ({ share } = reading);
      if (id !== undefined) errors = { ...errors, id };
      if (isCounted) await admitted.count(limit({ place, value }));
      if (fault !== undefined) throw fault;
      admitted.value = value as Value;
      response = withCookie(withBrowserFields(await serve(admitted), site), admitted.cookie);
    } catch (error) {
      response = withBrowserFields(errorResponse(error, errors, admitted), site);
    } finally {
      share?.release();
    }
    return observed(response, admitted, errors, startedAt);
  };
}

/** True if pages of other sites must not read through the route either. */
function checksReads(origin: OriginRule, { auth, visitor }: RouteMount): boolean {
  if (origin === 'own-pages' || mayHoldSession(auth)) return true;
  return origin === 'own-pages-with-visitor' && visitor !== undefined;
}

async function readingOf<Value, Place>(
  read: Reader<Value, Place>,
  request: HttpRequest,
  site: SiteSettings,
  place: Place,
): Promise<Reading<Value>> {
  try {
    return await read(request, site, place);
  } catch (fault) {
    return { fault };
  }
}

function withBrowserFields(response: HttpResponse, { fields }: SiteSettings): HttpResponse {
  const headers = browserFields(response.headers, fields);
  return headers === response.headers ? response : { ...response, headers };
}

/** The agent sets no cookie: `browserFields` drops it. */
function withCookie(response: HttpResponse, cookie: string | undefined): HttpResponse {
  return cookie === undefined ? response : { ...response, headers: { 'set-cookie': cookie, ...response.headers } };
}

/** Reports a response to operators, and then its body until it ends. */
function observed(
  response: HttpResponse,
  admitted: Admitted<unknown, unknown>,
  errors: ErrorForm,
  startedAt: number,
): HttpResponse {
  const { site, route, requestId, request, chat } = admitted;
  if (isBodiless(request.method, response.status)) response = withoutBody(response);
  const { body } = response;
  const coming = isStream(body) ? body : undefined;
  const isEvents = coming !== undefined && isEventStream(response.headers);
  chat?.begin(isEvents, isPlain(response.headers));
  if (chat !== undefined && !isStream(body)) {
    if (body !== null) chat.push(typeof body === 'string' ? encoder.encode(body) : body);
    site.telemetry.emit(chat.end('complete', requestId, route));
  }
  site.telemetry.emit({
    type: 'request',
    requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.clock.now() - startedAt,
    ...(isEvents && { streams: true }),
    ...(chat !== undefined && coming !== undefined && { continues: true }),
  });
  if (coming === undefined) return response;
  const watch = new StreamWatch({ site, route, requestId, errors, isEvents, signal: request.signal, startedAt, chat });
  // An event cannot be added to compressed bytes: they pass unchanged, and break where they break.
  const isWritable = errors.endsStreams && isEvents && isPlain(response.headers);
  return { ...response, body: isWritable ? new EventStream(coming, watch) : new ObservedBody(coming, watch) };
}

const encoder = new TextEncoder();

/**
 * Some hosts wait for the bytes of a declared length; only a response to HEAD and a 304 may declare that of a body they
 * do not have (RFC 9110 §8.6).
 */
function withoutBody({ status, headers, body }: HttpResponse): HttpResponse {
  discard(body);
  const isEmpty = status === 204 || status === 205;
  return { status, headers: isEmpty ? { ...headers, 'content-length': undefined } : headers, body: null };
}
