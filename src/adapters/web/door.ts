import type { ChatWatch } from '../../domain/chat/chat-watch.js';
import { mayHoldSession, type RouteAuth } from '../../domain/credentials/route-auth.js';
import { browserFields, type BrowserFieldRules } from '../../domain/upstream/browser-fields.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { checkOrigin, checkVisitor, type HostPolicy, type OriginPolicy, type VisitorPolicy } from './admission.js';
import {
  type ErrorContext,
  errorContext,
  type ErrorForm,
  errorResponse,
  type ErrorSite,
  methodNotAllowed,
  notFound,
} from './error-response.js';
import type { BodyLimits, BodyReservation } from './request-body.js';
import { observed, type WatchSettings } from './stream-watch.js';

/** Settings shared by all routes of a site; complete, so that routes need no defaults. */
export interface SiteSettings extends BodyLimits, VisitorPolicy, ErrorSite, WatchSettings {
  readonly origins: OriginPolicy;
  /** The host names of the routes; absent if any name is valid. */
  readonly hosts?: HostPolicy | undefined;
  /** The rules for writing response fields. */
  readonly fields: BrowserFieldRules;
  /** Digests the names in `chat` events; absent if no listener asks for them. */
  readonly digest?: ((text: string) => string) | undefined;
}

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
  /** The reservation of its body in the memory of the process; the door releases it. */
  readonly reservation?: BodyReservation | undefined;
}

/** Reads a request; an exception is a `fault`. */
export type Reader<Value, Target> = (
  request: HttpRequest,
  site: SiteSettings,
  target: Target,
) => Reading<Value> | Promise<Reading<Value>>;

/** The rules of one route. A new route states all of them: none has a default that could admit a request. */
export interface RouteRule<Value, Target> {
  /** Its name for operators. */
  readonly name: string;
  /** Reads the path of a request; `undefined` is answered with 404. Default: every path that reaches the route. */
  readonly target?: (request: HttpRequest) => Target | undefined;
  /** Its methods, as `Allow` lists them. */
  readonly methods: readonly string[] | ((target: Target) => readonly string[]);
  /** True for the methods it accepts. Default: those in `methods`. */
  readonly accepts?: (method: string) => boolean;
  readonly origin: OriginRule;
  /** The allowance that a request uses; `within` if the route itself calls `count`, for the requests that cost something. */
  readonly limit:
    'none' | 'within' | ((reading: { readonly target: Target; readonly value: Value | undefined }) => Allowance);
  readonly read: Reader<Value, Target>;
  /** The format of its errors. */
  readonly errors: ErrorForm;
}

/** One request that the door has admitted, with what was read of it. */
export interface Admitted<Value = unknown, Target = unknown> extends ErrorContext {
  readonly site: SiteSettings;
  readonly request: HttpRequest;
  readonly target: Target;
  readonly value: Value;
  /**
   * Counts one request of the visitor.
   *
   * @throws RequestError `rate_limited`.
   */
  readonly count: (allowance: Allowance) => Promise<void>;
  /** The cookie of a response that is no error, written after the agent's fields, none of which may be a cookie. */
  cookie?: string | undefined;
  /** Learns the facts of a chat call; absent if no listener asks for them. */
  chat?: ChatWatch | undefined;
}

/**
 * A handler behind the door. Only here a request reaches the domain: its page is checked, it is read and counted, and
 * then `serve` responds. Exceptions become responses, operators get an event, and a stream is observed until it ends.
 */
export function route<Value, Target = undefined>(
  rule: RouteRule<Value, Target>,
  mount: RouteMount,
  serve: (admitted: Admitted<Value, Target>) => HttpResponse | Promise<HttpResponse>,
): HttpHandler {
  const { name, limit, read, errors } = rule;
  const { site, auth } = mount;
  const readsAreChecked = checksReads(rule.origin, mount);
  const isCounted = limit !== 'none' && limit !== 'within' && (site.chatLimit ?? site.userLimit) !== undefined;
  return async (request) => {
    const target = rule.target?.(request) as Target;
    if (target === undefined && rule.target !== undefined) return notFound(request, errorContext(site, name));
    const methods = typeof rule.methods === 'function' ? rule.methods(target) : rule.methods;
    const isAccepted = rule.accepts?.(request.method) ?? methods.includes(request.method);
    if (!isAccepted) return methodNotAllowed(methods.join(', '), errorContext(site, name));
    const startedAt = site.clock.now();
    const count = (allowance: Allowance): Promise<void> => checkVisitor(request, site, auth, allowance);
    const admitted = {
      site,
      route: name,
      requestId: site.newRequestId(),
      id: undefined as string | undefined,
      request,
      target,
      value: undefined as Value | undefined,
      count,
      cookie: undefined as string | undefined,
      chat: undefined as ChatWatch | undefined,
    };
    let reservation: BodyReservation | undefined;
    let response: HttpResponse;
    try {
      checkOrigin(request, site.origins, readsAreChecked);
      let reading: Reading<Value>;
      try {
        reading = await read(request, site, target);
      } catch (fault) {
        reading = { fault };
      }
      ({ reservation } = reading);
      admitted.id = reading.id;
      admitted.value = reading.value;
      if (isCounted) await count(limit(admitted));
      // oxlint-disable-next-line typescript/only-throw-error -- thrown by a reader, or by a function of the site
      if (reading.fault !== undefined) throw reading.fault;
      response = withCookie(withBrowserFields(await serve(admitted as Admitted<Value, Target>), site), admitted.cookie);
    } catch (error) {
      response = withBrowserFields(errorResponse(error, errors, admitted), site);
    } finally {
      if (reservation !== undefined) reservation.release();
    }
    return observed(response, { site, context: admitted, request, errors, startedAt, chat: admitted.chat });
  };
}

/** True if pages of other sites must not read through the route either. */
function checksReads(origin: OriginRule, { auth, visitor }: RouteMount): boolean {
  if (origin === 'own-pages' || mayHoldSession(auth)) return true;
  return origin === 'own-pages-with-visitor' && visitor !== undefined;
}

function withBrowserFields(response: HttpResponse, { fields }: SiteSettings): HttpResponse {
  const headers = browserFields(response.headers, fields);
  return headers === response.headers ? response : { ...response, headers };
}

/** The agent sets no cookie: `browserFields` drops it. */
function withCookie(response: HttpResponse, cookie: string | undefined): HttpResponse {
  return cookie === undefined ? response : { ...response, headers: { 'set-cookie': cookie, ...response.headers } };
}
