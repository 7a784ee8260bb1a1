import { asSessionTokenSource } from '../../adapters/sessions/as-session-token-source.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import { sha256 } from '../../adapters/system/system.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';
import { hideToken, redactingSessionSource, requestSecrets } from '../../adapters/telemetry/request-scope.js';
import type { SessionRequired } from '../../domain/conversations/conversation-proxy.js';
import { CoalescingSessionSource } from '../../domain/credentials/coalescing-session-source.js';
import { Credential, type CredentialOwner } from '../../domain/credentials/credential.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { ExchangedTokens } from '../../domain/credentials/exchanged-tokens.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import { UserNames } from '../../domain/credentials/session-credentials.js';
import { isAgentBffError, ServiceAuthError } from '../../domain/shared/errors.js';
import { optionalSecret, type Secret } from '../../domain/shared/secret.js';
import type { Clock } from '../../ports/clock.js';
import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import type { TokenExchange } from '../../ports/identity-provider.js';
import type {
  AuthHeadersOptions,
  ChatHandlerOptions,
  GetHeaders,
  HeadersLike,
  ServiceProxyOptions,
  SessionOptions,
  SurfaceHandlerOptions,
  SurfaceRouterOptions,
} from './route-options.js';
import { headerFields } from './site-fields.js';

const MAX_SESSIONS = 10_000;

/** Fields that belong to the message and not to the caller: a copy of them would break or redirect the call. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A site that has no way to sign in: nobody is. */
const NOBODY: SessionTokenSource = { getToken: () => Promise.resolve({ kind: 'no-session' }) };

/** What the auth of routes is made with. */
export interface RouteAuthsDependencies {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** The session libraries of all routes, also of those made before this toolkit; added to by each further route. */
  readonly sessions: Set<SessionTokenLike>;
  readonly tokens: TokenCache;
  readonly exchange: TokenExchange;
  /** Whether every session route exchanges. */
  readonly alwaysExchange: boolean;
  /** Milliseconds for one call of a session library, and of the site's own `getHeaders`; 0 waits for ever. */
  readonly sessionMs: number;
  /** The configured key, and the name of its field. */
  readonly apiKey: Secret | undefined;
  readonly apiKeyHeader: string;
}

/** Says whose credential a route attaches, from options that `readOptions` has read. */
export class RouteAuths {
  readonly #deps: RouteAuthsDependencies;
  readonly #exchanged: ExchangedTokens;
  readonly #names: UserNames;
  /** One set of coalesced refreshes for each session library, whichever route uses it. */
  readonly #sources = new Map<SessionTokenSource, SessionTokenSource>();

  constructor(dependencies: RouteAuthsDependencies) {
    const { clock, tokens, exchange, sessions, telemetry } = dependencies;
    this.#deps = dependencies;
    this.#names = new UserNames({ sources: () => [...sessions].map(asSessionTokenSource), telemetry });
    this.#exchanged = new ExchangedTokens({ exchange, tokens, clock, hash: sha256, block: 'onBehalfOf' });
  }

  chat({ getSessionToken, ...options }: ChatHandlerOptions): RouteAuth<'service' | 'session'> {
    return getSessionToken === undefined ? this.service(options) : this.#caching(getSessionToken, options);
  }

  /** The config route: the site's own headers where it makes them, else the credential of the chat. */
  config(chat: RouteAuth, getHeaders: GetHeaders | undefined): RouteAuth {
    return getHeaders === undefined ? chat : this.#headers(getHeaders, undefined);
  }

  surfaceRouter({ getHeaders, strategy = '', ...options }: SurfaceRouterOptions): RouteAuth {
    if (options.auth !== undefined || options.requireSession === true) return this.surfaces(options);
    const apiKey = optionalSecret(options.apiKey);
    const key = apiKey ?? this.#deps.apiKey;
    if (getHeaders !== undefined) return this.#headers(getHeaders, key);
    // Without any key, a router that could only fail goes by the configured strategy.
    return strategy === '' && key !== undefined ? { kind: 'api-key', apiKey } : { kind: 'service', strategy, apiKey };
  }

  surfaces({
    auth,
    requireSession: required = false,
    ...options
  }: SurfaceHandlerOptions): RouteAuth<'session' | 'api-key'> {
    if (auth !== undefined) return { ...this.#caching(auth, options), required };
    if (required) return this.session(NOBODY, options);
    return { kind: 'api-key', apiKey: optionalSecret(options.apiKey) };
  }

  conversations({ auth, ...options }: ServiceProxyOptions): SessionRequired {
    return this.session(auth, options);
  }

  service({ strategy = '', apiKey }: AuthHeadersOptions): RouteAuth<'service'> {
    return { kind: 'service', strategy, apiKey: optionalSecret(apiKey) };
  }

  /** A request without a session is refused. */
  session(like: SessionTokenLike, { audience = '', apiKey, exchange }: SessionOptions): SessionRequired {
    const source = asSessionTokenSource(like);
    return {
      kind: 'session',
      required: true,
      apiKey: optionalSecret(apiKey),
      source: this.#coalesced(source),
      nameOf: (token) => this.#names.nameOf(source, token),
      audience,
      exchange: exchange !== undefined || this.#deps.alwaysExchange ? this.#exchanged : undefined,
    };
  }

  /** The same for a route that keeps something for its users. */
  #caching(like: SessionTokenLike, options: SessionOptions): SessionRequired {
    this.#deps.sessions.add(like);
    return this.session(like, options);
  }

  #coalesced(source: SessionTokenSource): SessionTokenSource {
    let tokens = this.#sources.get(source);
    if (tokens === undefined) {
      const { clock, sessionMs } = this.#deps;
      // Inside the shared flight: a call that never ends would keep a whole session waiting.
      const safe = redactingSessionSource(source, (work) => inTime(work, sessionMs, 'the session library'));
      tokens = new CoalescingSessionSource({
        source: safe,
        clock,
        hash: sha256,
        hide: hideToken,
        maxEntries: MAX_SESSIONS,
      });
      this.#sources.set(source, tokens);
    }
    return tokens;
  }

  /** The headers a site makes for each request, and the API key unless they bring one. Alike headers are one caller. */
  #headers(getHeaders: GetHeaders, apiKey: Secret | undefined): RouteAuth<'headers'> {
    const { sessionMs, apiKeyHeader } = this.#deps;
    const key = apiKey === undefined ? {} : { [apiKeyHeader]: apiKey.reveal() };
    return {
      kind: 'headers',
      obtain: async ({ native, headers: visitor }) => {
        const headers = { ...key, ...(await madeHeaders(getHeaders, native.request, visitor, sessionMs)) };
        return new Credential({
          kind: 'session',
          headers,
          owner: () => ownerOfHeaders(headers),
          block: 'getHeaders',
          cacheKey: undefined,
          token: undefined,
        });
      },
    };
  }
}

/** A framework's own request as session sources take it: a Web `Request`, Express's `req`, a Koa context, or nothing (Next finds it itself). */
export function sessionRequest(request: unknown): RequestContext {
  const { headers, res } = Object(request) as { headers?: unknown; res?: unknown };
  return {
    headers: headers instanceof Headers ? Object.fromEntries(headers) : ((headers ?? {}) as HeaderFields),
    native: { request, ...(res === undefined ? {} : { response: res }) },
  };
}

/** By a digest: they may hold any secret. */
function ownerOfHeaders(headers: Readonly<Record<string, string>>): CredentialOwner {
  const fields = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  const principal = `headers ${sha256(`agent-bff headers ${JSON.stringify(fields)}`)}`;
  return { principal, reader: principal };
}

async function madeHeaders(
  getHeaders: GetHeaders,
  request: unknown,
  visitor: HeaderFields,
  ms: number,
): Promise<Record<string, string>> {
  let made: HeadersLike;
  try {
    const work = (async () => getHeaders(request))();
    made = await inTime(work, ms, 'the site');
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    if (error instanceof DeadlineError) throw notMade(error.message);
    const text = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    // What reads a session quotes the cookie it cannot read.
    throw notMade(withoutSecrets(text, requestSecrets(visitor)));
  }
  try {
    const fields = Object.entries(headerFields(made));
    return Object.fromEntries(fields.filter(([name]) => !MESSAGE_FIELDS.has(name)));
  } catch (error) {
    throw notMade((error as Error).message);
  }
}

function notMade(log: string): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', {
    detail: 'The headers for the platform could not be made.',
    hint: 'Check the function given as "getHeaders" or "configGetHeaders"; the server log says what failed.',
    block: 'getHeaders',
    log,
  });
}
