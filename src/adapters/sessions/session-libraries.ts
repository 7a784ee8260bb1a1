import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAgentBffError, NOT_MOUNTED, sessionFailed } from '../../domain/shared/errors.js';
import { jwtClaims } from '../../domain/shared/json.js';
import { withoutSecrets } from '../../domain/shared/redaction.js';
import { REDACTED } from '../../domain/shared/secret.js';
import { USER_ERRORS } from '../../domain/shared/user-errors.js';
import type { HeaderFields, RequestContext } from '../../ports/http.js';
import type { SessionToken } from '../../ports/session-token-source.js';

/**
 * Request and response as session libraries for Node expect them; empty if there is no response to write cookies to,
 * and the library finds both itself.
 */
export function nodePair({
  headers,
  native,
}: RequestContext): readonly [] | readonly [request: unknown, response: unknown] {
  const { request, response } = native;
  if (response === undefined || response === null) return [];
  // Libraries treat a Web request as that of a middleware, and respond to it or look for a Web response.
  return [request instanceof Request ? { headers, url: request.url } : request, response];
}

/** The header fields as Web `Headers`, which session libraries read. */
export function webHeaders(fields: HeaderFields): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // Several cookie fields are joined with a semicolon; a comma would break them (RFC 9113 §8.2.3).
    headers.set(name, typeof value === 'string' ? value : value.join(name === 'cookie' ? '; ' : ', '));
  }
  return headers;
}

interface CookieResponse {
  getHeader(name: 'set-cookie'): unknown;
  setHeader(name: 'set-cookie', value: readonly string[]): unknown;
  readonly headersSent?: boolean;
}

/**
 * Attaches the cookies that a library writes on a Node response to the token: every request that shares the token sends
 * them, so they survive if the first request is cancelled.
 */
export async function withRefreshedCookies(
  request: RequestContext,
  call: () => Promise<SessionToken>,
): Promise<SessionToken> {
  const response = cookieResponse(request);
  const before = response === undefined ? [] : cookiesOf(response);
  const found = await call();
  const written = response === undefined ? [] : cookiesOf(response).filter((cookie) => !before.includes(cookie));
  return found.kind === 'token' ? withCookies(found, written) : found;
}

/** A token whose refreshed session is in these cookies. They reach Node responses whose head is not sent. */
export function withCookies(found: FoundToken, cookies: readonly string[]): FoundToken {
  if (cookies.length === 0) return found;
  const write = (of: RequestContext, added: readonly string[]): void => {
    const response = cookieResponse(of);
    if (response === undefined || response.headersSent === true) return;
    const others = cookiesOf(response).filter((cookie) => !cookies.includes(cookie));
    response.setHeader('set-cookie', [...others, ...added]);
  };
  return { ...found, adopt: (to) => write(to, cookies), retract: (from) => write(from, []) };
}

function cookieResponse({ native }: RequestContext): CookieResponse | undefined {
  const { response } = native as { response?: Partial<CookieResponse> | null };
  const isNode = typeof response?.getHeader === 'function' && typeof response.setHeader === 'function';
  return isNode ? (response as CookieResponse) : undefined;
}

function cookiesOf(response: CookieResponse): readonly string[] {
  const field = response.getHeader('set-cookie') ?? [];
  return (Array.isArray(field) ? field : [field]).map(String);
}

/**
 * The session after a refresh failed with this OAuth error code; absent if the code does not end a session, such as for
 * a provider that is down or a wrong client secret.
 */
export function refreshRefusal(code: unknown): SessionToken | undefined {
  const reason = USER_ERRORS.get(code);
  return reason === undefined ? undefined : { kind: 'expired', reason, log: `the refresh failed: ${String(code)}` };
}

/** The value that a session library's middleware adds to a request; if it is not mounted, throws for operators. */
export function mounted<T>(value: T | undefined, field: string, line: string): T {
  if (value !== undefined) return value;
  throw sessionFailed(`the request has no "${field}": ${line} ${NOT_MOUNTED}`);
}

/** Matches words as long as a token. */
const LONG = /[\w.~+=-]{16,}/gu;
const MAX_MESSAGE = 200;

/**
 * An error for a failed call of a session library, with the library's version, and the name, code and redacted message of
 * its error. The error itself is dropped, because it may hold tokens and the provider's response. `library` is the name
 * of its package.
 */
export function sanitizeLibraryError(library: string, error: unknown): Error {
  // What it shows and logs was chosen for that by the site.
  if (isAgentBffError(error)) return error;
  const { name, code, message } = Object(error) as { name?: unknown; code?: unknown; message?: unknown };
  const words = [name, code].filter((word) => typeof word === 'string' && /^[\w.-]{1,64}$/.test(word));
  // The session's tokens are not known here, so anything that could be one is redacted.
  const text = typeof message === 'string' ? withoutSecrets(message, []).replace(LONG, withoutToken) : '';
  const facts = [words.join(' '), text.slice(0, MAX_MESSAGE)].filter((fact) => fact !== '');
  const failure = `${library}${versionOf(library)} could not return the token`;
  return new Error([failure, ...(facts.length > 0 ? facts : ['unknown error'])].join(': '));
}

/** Tokens have digits, or letters of both cases. */
function withoutToken(word: string): string {
  return /\d/.test(word) || (/[a-z]/.test(word) && /[A-Z]/.test(word)) ? REDACTED : word;
}

/** The version of a package in the folder the site runs in, after a space; empty if it is not there, as in a bundle. */
function versionOf(library: string): string {
  try {
    const manifest = readFileSync(join(process.cwd(), 'node_modules', library, 'package.json'), 'utf8');
    return ` ${String((JSON.parse(manifest) as { version?: unknown }).version)}`;
  } catch {
    return '';
  }
}

type FoundToken = Extract<SessionToken, { kind: 'token' }>;
type Names = Pick<FoundToken, 'subject' | 'issuer' | 'tenant'>;
type Claims = Readonly<Record<string, unknown>>;

/** Claims that name an organization or tenant: Entra's; Auth0's and WorkOS's; Logto's; Kinde's; those of several others. */
const TENANT_CLAIMS = ['tid', 'org_id', 'organization_id', 'org_code', 'tenant_id'];

/** A session's token. `claims` are of its ID token; the tenant is in the first of `tenants` that names one. */
export function foundToken(
  accessToken: string,
  expiresAt: number | undefined,
  claims: Claims | undefined,
  tenants: readonly (Claims | undefined)[] = [claims],
): FoundToken {
  const names = { ...userNames(claims), ...tenantName(...tenants) };
  return { kind: 'token', accessToken, ...(expiresAt !== undefined && { expiresAt }), ...names };
}

/** The user of an ID token verified by the session library, by issuer and subject; `{}` unless both are strings. */
export function userNames(claims: Claims | undefined): Names {
  const { iss, sub } = claims ?? {};
  return isName(iss) && isName(sub) ? { issuer: iss, subject: sub } : {};
}

/**
 * The tenant from the first of these claims that has one; `{}` if a claim is not a string, or none names a tenant. A
 * token with several (`tid` and `org_id`) is for their combination.
 */
export function tenantName(...claims: readonly (Claims | undefined)[]): Names {
  for (const one of claims) {
    const present = TENANT_CLAIMS.filter((name) => one?.[name] !== undefined);
    const named = present.flatMap((name) => (isName(one?.[name]) ? [[name, one[name]] as const] : []));
    if (named.length < present.length) return {};
    const [first] = named;
    if (first !== undefined) return { tenant: named.length === 1 ? first[1] : JSON.stringify(named) };
  }
  return {};
}

/**
 * The claims of a session's token, whose signature is not verified: it comes from the session library, whose session
 * browsers cannot write. A token chosen by a browser could name any user.
 */
export function claimsOf(token: unknown): Claims | undefined {
  return typeof token === 'string' ? jwtClaims(token) : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
