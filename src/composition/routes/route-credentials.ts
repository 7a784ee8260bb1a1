import { asSessionTokenSource } from '../../adapters/sessions/as-session-token-source.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { after, sha256 } from '../../adapters/system/system.js';
import { hideToken, redactingSessionSource } from '../../adapters/telemetry/request-scope.js';
import type { SessionRequired } from '../../domain/conversations/conversation-proxy.js';
import { CoalescingSessionSource } from '../../domain/credentials/coalescing-session-source.js';
import { Credential, type CredentialOwner, ownerOf } from '../../domain/credentials/credential.js';
import type { RouteAuth, RouteFields } from '../../domain/credentials/route-auth.js';
import { ExchangedTokens } from '../../domain/credentials/exchanged-tokens.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import { checkedSession } from '../../domain/credentials/site-results.js';
import { UserNames } from '../../domain/credentials/session-credentials.js';
import { withTimeout } from '../../domain/shared/deadline.js';
import { type AgentBffError, ServiceAuthError, siteFailed } from '../../domain/shared/errors.js';
import { isFieldValue, isWithheld } from '../../domain/shared/header-policy.js';
import { MESSAGE_FIELDS } from '../../domain/shared/message-fields.js';
import { isPlainObject } from '../../domain/shared/options.js';
import { optionalSecret, type Secret } from '../../domain/shared/secret.js';
import type { Clock } from '../../ports/clock.js';
import type { Memory } from '../../ports/memory.js';
import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import type { TokenExchange } from '../../ports/identity-provider.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { siteSays } from '../toolkit/site-function.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  FieldsContext,
  GetHeaders,
  HeadersLike,
  SessionOptions,
  SiteFieldOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from './route-options.js';

/** The site's own fields; `route` is the name passed to its function. */
type NamedFields = SiteFieldOptions & { readonly route?: FieldsContext['route'] };

/** For headers that are the credential: they are computed before anything about the call is known. */
const NO_ABOUT: FieldsContext = { session: null, route: 'surface', message: undefined };

/** For a site without sign-in: no session. */
const NOBODY: SessionTokenSource = { getToken: () => Promise.resolve({ kind: 'no-session' }) };

export interface RouteCredentialsDependencies {
  readonly config: Pick<
    ResolvedConfig,
    'serviceApiKey' | 'serviceProjectId' | 'alwaysExchange' | 'configPerUser' | 'timeouts' | 'upstream'
  >;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The session libraries of all routes, including those created before this toolkit; each new route adds its own. */
  readonly sessions: Set<SessionTokenLike>;
  readonly tokens: TokenCache;
  /** Holds the tokens of sessions. */
  readonly memory: Memory;
  readonly exchange: TokenExchange;
}

/** Creates the credentials of routes, with the site's own fields, from options that `readOptions` has read. */
export class RouteCredentials {
  readonly #deps: RouteCredentialsDependencies;
  readonly #exchanged: ExchangedTokens;
  readonly #names: UserNames;
  /** Routes whose users share look-ups. */
  #sharing = 0;
  /** One coalescing source per session library, shared by all routes; weak, since a site may make one for each request. */
  readonly #sources = new WeakMap<SessionTokenSource, CoalescingSessionSource>();

  constructor(dependencies: RouteCredentialsDependencies) {
    const { clock, tokens, exchange, sessions, telemetry } = dependencies;
    this.#deps = dependencies;
    this.#names = new UserNames({ sources: () => [...sessions].map(asSessionTokenSource), telemetry });
    this.#exchanged = new ExchangedTokens({ exchange, tokens, clock, telemetry, hash: sha256 });
  }

  chat(options: ChatHandlerOptions): RouteAuth<'service' | 'session'> {
    const { auth } = options;
    const named = { ...options, route: 'chat' as const };
    if (auth === undefined) return this.service(named);
    const session = this.#caching(auth, named);
    if (this.#deps.config.configPerUser) return session;
    this.#sharing += 1;
    return { ...session, sharesLookups: `route ${String(this.#sharing)}` };
  }

  /** The credential of the config route's look-ups: the site's own headers if configured, otherwise the credential of the chat. */
  lookups(chat: RouteAuth, { configGetHeaders }: ChatHandlerOptions): RouteAuth {
    if (configGetHeaders === undefined) return chat;
    return { ...this.#headers(configGetHeaders, undefined), fields: chat.fields };
  }

  surfaceRouter(options: SurfaceRouterOptions): RouteAuth {
    const { getHeaders, strategy } = options;
    if (options.auth !== undefined || options.requireSession === true) return this.surfaces(options);
    const key = optionalSecret(options.apiKey) ?? this.#deps.config.serviceApiKey;
    if (getHeaders !== undefined) return { ...this.#headers(getHeaders, key), ...this.#fields(options) };
    // Without any key, a router that would always fail uses the configured strategy.
    return strategy === undefined && key !== undefined ? this.#apiKeyAlone(options) : this.service(options);
  }

  surfaces(options: SurfaceHandlerOptions): RouteAuth<'session' | 'api-key'> {
    const { auth, requireSession: required = false } = options;
    if (auth !== undefined) return { ...this.#caching(auth, options), required };
    return required ? this.session(NOBODY, options) : this.#apiKeyAlone(options);
  }

  service(options: AuthHeadersOptions & NamedFields): RouteAuth<'service'> {
    const { strategy = '', apiKey } = options;
    return { kind: 'service', strategy, apiKey: optionalSecret(apiKey), ...this.#fields(options) };
  }

  /** Rejects requests without a session. */
  session(like: SessionTokenLike, options: SessionOptions & NamedFields): SessionRequired {
    const { audience = '', apiKey, exchange } = options;
    const source = asSessionTokenSource(like);
    const exchanges = exchange !== undefined || this.#deps.config.alwaysExchange;
    return {
      kind: 'session',
      required: true,
      apiKey: optionalSecret(apiKey),
      source: this.#coalesced(source),
      nameOf: (token) => this.#names.nameOf(source, token),
      audience,
      exchange: exchanges ? this.#exchanged : undefined,
      ...this.#fields(options),
    };
  }

  /** Ends the session of a request whose user signs out. */
  endSession(like: SessionTokenLike, request: RequestContext): Promise<void> {
    return this.#coalesced(asSessionTokenSource(like)).end(request);
  }

  /** The auth of a route that caches data for its users. */
  #caching(like: SessionTokenLike, options: SessionOptions & NamedFields): SessionRequired {
    this.#deps.sessions.add(like);
    return this.session(like, options);
  }

  #apiKeyAlone(options: Pick<SessionOptions, 'apiKey'> & SiteFieldOptions): RouteAuth<'api-key'> {
    return { kind: 'api-key', apiKey: optionalSecret(options.apiKey), ...this.#fields(options) };
  }

  #coalesced(source: SessionTokenSource): CoalescingSessionSource {
    let tokens = this.#sources.get(source);
    if (tokens === undefined) {
      const { clock, config, telemetry, memory } = this.#deps;
      const limit = after(config.timeouts.sessionMs, 'the session library');
      // Inside the shared call: one that never ends would block a whole session.
      const safe = redactingSessionSource(source, async (work) =>
        checkedSession(await withTimeout(limit, work), telemetry),
      );
      tokens = new CoalescingSessionSource({ source: safe, clock, hash: sha256, hide: hideToken, memory });
      this.#sources.set(source, tokens);
    }
    return tokens;
  }

  /** The headers a site creates for each request, and the API key unless they include one. Equal headers are one caller. */
  #headers(getHeaders: GetHeaders, apiKey: Secret | undefined): RouteAuth<'headers'> {
    const { timeouts, upstream } = this.#deps.config;
    const key = apiKey === undefined ? {} : { [upstream.headers.apiKey]: apiKey.reveal() };
    return {
      kind: 'headers',
      obtain: async ({ native }) => {
        const fields = Object.entries(
          await returnedFields(getHeaders, native.request, NO_ABOUT, timeouts.sessionMs, noHeaders),
        );
        const headers = { ...key, ...Object.fromEntries(fields.filter(([name]) => !MESSAGE_FIELDS.has(name))) };
        return new Credential({
          kind: 'session',
          headers,
          owner: () => ownerOfHeaders(headers),
          block: 'getHeaders',
        });
      },
    };
  }

  /** The site's own fields on a route; none if its options set none. */
  #fields({ headers, forward = {}, route = 'surface' }: NamedFields): { readonly fields?: RouteFields } {
    const request = lowerCase(forward.request);
    const response = lowerCase(forward.response);
    if (headers !== undefined) return { fields: { request, response, make: this.#replacedOnce(headers, route) } };
    return request.length === 0 && response.length === 0 ? {} : { fields: { request, response } };
  }

  /** The fields from the site's function. A configured value of the same field replaces them (decision 91), and is logged once. */
  #replacedOnce(headers: GetHeaders, route: FieldsContext['route']): NonNullable<RouteFields['make']> {
    const { config, telemetry } = this.#deps;
    const { apiKey, projectId } = config.upstream.headers;
    const sent = new Map<string, string>();
    if (config.serviceApiKey !== undefined) sent.set(apiKey, '"serviceApiKey"');
    if (config.serviceProjectId !== '') sent.set(projectId, '"serviceProjectId"');
    return async ({ native }, session, message) => {
      const about = { session, route, message };
      const fields = await returnedFields(headers, native.request, about, config.timeouts.sessionMs, noFields);
      const withheld = Object.keys(fields).find(isWithheld);
      if (withheld !== undefined) throw noFields(`it returned "${withheld}", which no option may set`);
      for (const [name, value] of sent) {
        if (fields[name] === undefined) continue;
        sent.delete(name);
        const detail = `The function in "headers" returns "${name}", the field that carries ${value}. Use another name, or change "upstream.headers".`;
        telemetry.emit({ type: 'warning', code: 'field_replaced', detail });
      }
      return fields;
    };
  }
}

/**
 * Wraps a framework's own request for session sources: a Web `Request`, Express's `req`, a Koa context, or nothing
 * (Next finds it itself).
 */
export function sessionRequest(request: unknown): RequestContext {
  const { headers, res } = Object(request) as { headers?: unknown; res?: unknown };
  return {
    headers: headers instanceof Headers ? Object.fromEntries(headers) : ((headers ?? {}) as HeaderFields),
    native: { request, ...(res === undefined ? {} : { response: res }) },
  };
}

/** A digest, because headers may hold any secret. `Headers` has sorted them. */
function ownerOfHeaders(headers: Readonly<Record<string, string>>): CredentialOwner {
  return ownerOf(`headers ${sha256(`agent-bff headers ${JSON.stringify(headers)}`)}`);
}

/** The header fields that a function of the site returns for a request; `failure` creates the error for any other result. */
async function returnedFields(
  headers: GetHeaders,
  request: unknown,
  about: FieldsContext,
  sessionMs: number,
  failure: (reason: string) => AgentBffError,
): Promise<Record<string, string>> {
  const returned = await siteSays(() => headers(request, about), sessionMs, failure);
  try {
    return headerFields(returned);
  } catch (error) {
    throw failure((error as Error).message);
  }
}

function noHeaders(reason: string): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', {
    detail: 'The headers for the platform could not be created.',
    hint: 'Check the function in "getHeaders" or "configGetHeaders"; the server log has the cause.',
    block: 'getHeaders',
    log: `The function in "getHeaders" or "configGetHeaders" failed: ${reason}.`,
  });
}

const noFields = siteFailed('headers', 'The header fields of this site could not be created.');

function lowerCase(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.toLowerCase());
}

/**
 * The fields by lower-case name.
 *
 * @throws Error when it cannot be converted to header fields; the message never quotes a value.
 */
export function headerFields(made: HeadersLike): Record<string, string> {
  const headers = new Headers();
  for (const [name, value] of pairs(made)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (text === undefined || text === null) continue;
      // Anything else, such as a promise that was not awaited, would be sent as "[object …]" with every request.
      if (!['string', 'number', 'boolean'].includes(typeof text))
        throw new Error('it returned a value that is not text');
      try {
        headers.append(String(name), String(text as string));
      } catch {
        // The error's own message quotes the value.
        throw notAllowed();
      }
    }
  }
  const fields = Object.fromEntries(headers);
  // `Headers` accepts control characters, which HTTP clients reject.
  if (!Object.values(fields).every(isFieldValue)) throw notAllowed();
  return fields;
}

function pairs(made: unknown): readonly (readonly [unknown, unknown])[] {
  if (made === undefined || made === null) return [];
  if (typeof made !== 'object') throw new Error('it returned no header fields');
  // Anything that lists pairs: a `Headers` of another realm or library, an array, a `Map`.
  if (!(Symbol.iterator in made)) {
    const fields = Object.entries(made);
    if (fields.length > 0 || isPlainObject(made)) return fields;
    throw new Error('it returned an object without header fields of its own, such as a request instead of its headers');
  }
  const listed = [...(made as Iterable<unknown>)];
  if (listed.every((pair) => Array.isArray(pair) && pair.length === 2)) return listed as [unknown, unknown][];
  throw new Error('it returned a list that does not consist of pairs of name and value');
}

function notAllowed(): Error {
  return new Error('it returned a name or a value that is not valid in a header field');
}
