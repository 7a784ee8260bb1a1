import { isAgentBffError, RequestError, siteFailed } from '../../domain/shared/errors.js';
import { reasonOf } from '../../domain/shared/failure-reason.js';
import type { RouteAuth } from '../../domain/credentials/route-auth.js';
import { withLog } from '../../domain/credentials/site-results.js';
import { sessionUser } from '../../domain/credentials/session-credentials.js';
import { isLoopback } from '../../domain/shared/paths.js';
import type { HeaderFields, HttpHandler, HttpRequest, HttpResponse, RequestContext } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { LimitVerdict, VisitorLimit } from '../../ports/visitor-limit.js';

// The checks before a route reads a request: its host, the page that sent it, and the visitor's message limit.

/** The host names under which a server may be called. */
export interface HostPolicy {
  /** Names that are valid with every port. */
  readonly names: ReadonlySet<string>;
  /** Names that are valid with one port, such as `site.example:8443`; `site.example:` if the field has no port. */
  readonly namesWithPort: ReadonlySet<string>;
  /** True if every loopback name is valid, with every port. */
  readonly loopback: boolean;
}

/** A handler that is only reachable under the names of a policy, if there is one; `refuse` responds to all other requests (RFC 9110 §15.5.20). */
export function behindHostCheck(
  handler: HttpHandler,
  policy: HostPolicy | undefined,
  refuse: (request: HttpRequest, error: RequestError) => HttpResponse,
): HttpHandler {
  if (policy === undefined) return handler;
  return (request) =>
    isServed(request.headers, policy) ? handler(request) : Promise.resolve(refuse(request, hostRefused()));
}

function isServed(headers: HeaderFields, { names, namesWithPort, loopback }: HostPolicy): boolean {
  const { host } = headers;
  if (typeof host !== 'string') return false;
  if (names.has(host)) return true; // The spelling of browsers, which is nearly always used.
  const read = readHost(host);
  if (read === undefined) return false;
  const { name, port } = read;
  if (names.has(name) || namesWithPort.has(`${name}:${port}`)) return true;
  // Names that resolvers must not redirect (RFC 6761 §6.3), and loopback addresses.
  return loopback && (name.endsWith('.localhost') || isLoopback(name));
}

function hostRefused(): RequestError {
  return new RequestError('host_refused', {
    detail: 'The request names a host that this server does not serve.',
    hint: 'Set "publicUrl" to the address visitors use, or add the host to "allowedHosts" in configureServer.',
    fields: ['publicUrl', 'allowedHosts'],
  });
}

/** The pages that may use the routes. */
export interface OriginPolicy {
  /** Origin of the configured public address, such as `https://site.example`; empty if none is configured. */
  readonly publicOrigin: string;
  /** Additional origins, such as `https://shop.example`. */
  readonly allowedOrigins: ReadonlySet<string>;
}

const CALL_OR_ALLOW =
  'Call the route from the site itself, or add the page\'s origin to "allowedOrigins" in configureServer.';
const BEHIND_A_PROXY =
  'If the page is the site\'s own, a proxy in front replaces "Host": set "publicUrl" to the address visitors use, or have the framework trust X-Forwarded-Host ("trust proxy" in Express, "proxy" in Koa). Otherwise add the page\'s origin to "allowedOrigins" in configureServer.';
const EXACT_ADDRESS =
  'Set "publicUrl" to the address visitors use, and add other origins of the site to "allowedOrigins" in configureServer: a name with www., another scheme or another port is another origin.';

/**
 * Rejects requests sent by another site's page (decision 80). Reading is safe with a service credential, so GET, HEAD
 * and OPTIONS are only checked on session routes.
 *
 * @throws RequestError `origin_refused`.
 */
export function checkOrigin(
  request: Pick<HttpRequest, 'method' | 'headers' | 'publicUrl'>,
  policy: OriginPolicy,
  session: boolean,
): void {
  const { method, headers } = request;
  const site = single(headers, 'sec-fetch-site');
  const safe = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  if (safe && !(session && site === 'cross-site')) return;
  const origin = single(headers, 'origin');
  if (origin === undefined && site === undefined) return; // Not a browser, which would send one of the two.
  if (origin !== undefined && isListed(origin, policy.allowedOrigins)) return;
  // Any other value means that the page is on another site.
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn && isOwnPage(origin, site, single(headers, 'host') ?? '', policy.publicOrigin)) return;
  if (policy.publicOrigin !== '') throw foreignPage(EXACT_ADDRESS, ['publicUrl', 'allowedOrigins'], origin);
  if (site !== undefined) throw foreignPage(CALL_OR_ALLOW, ['allowedOrigins'], origin);
  // A forwarded host is part of this address only if the framework trusts the proxy.
  const [, , host = ''] = request.publicUrl.split('/');
  const [forwarded = ''] = (single(headers, 'x-forwarded-host') ?? '').split(',', 1);
  if (host === forwarded.trim() && isOwnPage(origin, site, host, '')) return;
  throw foreignPage(BEHIND_A_PROXY, ['publicUrl', 'allowedOrigins'], origin);
}

/** Warns operators about a page of an unlisted origin: its browser hides the response, which looks like a lost connection. */
export function noticePage(request: HttpRequest, origins: OriginPolicy, telemetry: Telemetry): void {
  try {
    const { headers, publicUrl } = request;
    if (headers['origin'] !== undefined) checkOrigin({ method: 'POST', headers, publicUrl }, origins, true);
  } catch (error) {
    const detail = `${(error as RequestError).logDetail()} If it is a page of yours, add the origin to "allowedOrigins" in configureServer, and the CORS middleware of your framework before the routes.`;
    telemetry.emit({ type: 'warning', code: 'origin_unlisted', detail });
  }
}

function isOwnPage(origin: string | undefined, site: string | undefined, host: string, publicOrigin: string): boolean {
  if (publicOrigin !== '') {
    // With DNS rebinding, another name that resolves to this server is same-origin to the browser, so neither
    // `Sec-Fetch-Site` nor `Host` proves anything.
    if (origin !== undefined) return origin === publicOrigin || readOrigin(origin) === publicOrigin;
    return readOrigin(`${schemeOf(publicOrigin)}://${host}`) === publicOrigin;
  }
  if (site !== undefined || origin === undefined) return site !== undefined;
  const page = readOrigin(origin);
  // The scheme is the page's: behind a TLS terminator the server does not know its own.
  return page !== undefined && readOrigin(`${schemeOf(page)}://${host}`) === page;
}

function isListed(origin: string, allowedOrigins: ReadonlySet<string>): boolean {
  if (allowedOrigins.size === 0) return false;
  return allowedOrigins.has(origin) || allowedOrigins.has(readOrigin(origin) ?? '');
}

function schemeOf(origin: string): string {
  return origin.slice(0, origin.indexOf(':'));
}

function foreignPage(hint: string, fields: readonly string[], origin = ''): RequestError {
  const detail = 'The request comes from a page of another site.';
  const log = `${detail} Its origin is ${readOrigin(origin) ?? 'not an address'}.`;
  return new RequestError('origin_refused', { detail, hint, fields, log });
}

/** A field that must not be repeated; two of them count as none. */
function single(headers: HeaderFields, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value.join(',');
}

/** The limits of messages and, separately, of the requests that follow a task. */
export interface VisitorPolicy {
  /** For visitors who are not signed in; absent if they are not limited. */
  readonly chatLimit?: Required<VisitorLimit> | undefined;
  /** For signed-in users; absent if they are not limited. */
  readonly userLimit?: Required<VisitorLimit> | undefined;
  readonly telemetry: Telemetry;
}

const VERDICTS: readonly unknown[] = ['admitted', 'unknown', 'refused'];

/**
 * Counts one request of a visitor if the site limits visitors, since each message costs money. Requests that follow a
 * task have their own allowance. Without a session there is no user to count: the credential is refused next.
 *
 * @throws RequestError (code `rate_limited`) with the time to wait.
 * @throws AgentBffError (code `internal_error`) naming the limit if the site's own failed.
 */
export async function checkVisitor(
  request: RequestContext,
  { chatLimit, userLimit, telemetry }: VisitorPolicy,
  auth: RouteAuth,
  kind: 'message' | 'reading' = 'message',
): Promise<void> {
  const isUser = auth.kind === 'session';
  const limit = isUser ? userLimit : chatLimit;
  if (limit === undefined) return;
  const found = isUser ? await sessionUser(auth, request) : undefined;
  if (isUser && found === undefined) return;
  const user = found && (found.name === undefined ? '' : JSON.stringify([found.user.tenant ?? '', ...found.name]));
  const { request: native } = request.native;
  const option = isUser ? 'userLimit' : 'chatLimit';
  const failed = siteFailed(option, 'The requests of this visitor could not be counted.');
  let verdict: LimitVerdict;
  try {
    verdict = await (kind === 'message' ? limit.admit(native, user) : limit.admitReading(native, user));
  } catch (error) {
    throw isAgentBffError(error) ? error : failed(reasonOf(error));
  }
  if (!VERDICTS.includes(Object(verdict).kind)) throw failed('it returned no verdict');
  if (verdict.kind === 'admitted') return;
  if (verdict.kind === 'unknown') {
    const summary = `A visitor was admitted without being counted. Check "${option}" in configureServer.`;
    const detail = `${summary} ${withLog(verdict, '"admit"', telemetry).log}`;
    telemetry.emit({ type: 'warning', code: 'limit_unknown', summary, detail });
    return;
  }
  const { retryAfterMs } = verdict;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  throw new RequestError('rate_limited', {
    detail: kind === 'message' ? 'Too many messages in a short time.' : 'Too many requests in a short time.',
    hint: `Try again in ${String(seconds)} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryable: true,
    retryAfterMs: seconds * 1000,
  });
}

/** A host and its port, as in a header field. */
export interface HostName {
  /** In lower case; an IPv6 address in brackets and in its shortest form. */
  readonly name: string;
  /** Empty if absent. */
  readonly port: string;
}

const HOST = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(0|[1-9]\d{0,4}))?$/i;
const HIGHEST_PORT = 65_535;

/**
 * Parses a host as browsers write it (RFC 9110 §7.2). `undefined` for every spelling that another parser could read as
 * another host: user names, lists, escapes, and numbers such as `127.1`, which the URL standard reads as an address.
 */
function readHost(text: string): HostName | undefined {
  const [, written = '', port = ''] = HOST.exec(text) ?? [];
  if (written === '' || Number(port) > HIGHEST_PORT || !URL.canParse(`http://${written}`)) return undefined;
  const { hostname: name } = new URL(`http://${written}`);
  // An IPv6 address has many spellings, which all parsers read alike (RFC 5952).
  return written.startsWith('[') || name === written.toLowerCase() ? { name, port } : undefined;
}

/**
 * Parses an origin (RFC 6454 §6) as browsers write it: lower case, without the scheme's default port; `undefined` for
 * `null`, lists and anything else.
 */
function readOrigin(text: string): string | undefined {
  const [, written = '', rest = ''] = /^(https?):\/\/(.+)$/i.exec(text) ?? [];
  const host = readHost(rest);
  if (host === undefined) return undefined;
  const scheme = written.toLowerCase();
  const isUsual = host.port === '' || host.port === (scheme === 'https' ? '443' : '80');
  return `${scheme}://${host.name}${isUsual ? '' : `:${host.port}`}`;
}
