import { cookiePair } from '../../domain/shared/message-fields.js';
import type { Visitor } from '../../domain/chat/conversation-guard.js';
import type { VisitorKey } from '../../domain/chat/minted-contexts.js';
import type { Clock } from '../../ports/clock.js';
import type { HttpRequest } from '../../ports/http.js';
import type { VisitorCrypto } from '../../ports/visitor-crypto.js';

/** The visitor of a request, and the cookie that its response sets. */
export interface Visit {
  readonly keys: Visitor['keys'];
  /** The user the site knows; absent for an anonymous visitor. */
  readonly user: VisitorUser | undefined;
  /** The value of `Set-Cookie`; absent if the visitor has a cookie that is young enough. */
  readonly cookie: string | undefined;
}

/** A user of the site. */
export interface VisitorUser {
  /** The name by which the site knows the user. */
  readonly name: string;
  /** A name that no other user has, whichever kind of name the other has. */
  readonly key: string;
}

export interface VisitorsDependencies {
  readonly crypto: VisitorCrypto;
  readonly clock: Clock;
  /** The keys of users, the current one first; empty if the site knows no users. */
  readonly keys: readonly { readonly mint: Uint8Array; readonly seal: Uint8Array }[];
  /** The user of a request; `undefined` without a sign-in. Absent if the site knows no users. */
  readonly user: ((request: HttpRequest) => Promise<VisitorUser | undefined>) | undefined;
  /** Seconds that the cookie lives; it is renewed after half of them. */
  readonly maxAgeS: number;
  /** The configured public address; empty if there is none. */
  readonly publicUrl: string;
}

const NAME = 'agent-bff-visitor';
/**
 * The cookie of routes that know the site's users. Its secret is sealed at a sign-in, and would then be lost to routes
 * that know none, of this site or of another one on this host.
 */
const USER_NAME = `${NAME}-user`;
/** A browser accepts this prefix from the host itself over https only, so no other host of the domain can set it. */
const HOST_PREFIX = '__Host-';
const SECRET_BYTES = 16;
/** The secret in its canonical spelling, or sealed to a user; then the time it was written, in seconds. */
const VALUE = /^(?:[\w-]{21}[AQgw]|s\.[\w-]{67})\.[0-9a-z]{1,9}$/;

/** Recognises visitors: by the site's own user, or else by a random cookie, whose secret is the key of their conversations. */
export class Visitors {
  readonly #deps: VisitorsDependencies;
  readonly #name: string;
  readonly #hostName: string;

  constructor(dependencies: VisitorsDependencies) {
    this.#deps = dependencies;
    this.#name = dependencies.user === undefined ? NAME : USER_NAME;
    this.#hostName = HOST_PREFIX + this.#name;
  }

  /** The visitor. A promise only if the site's own function names the user. */
  of(request: HttpRequest): Visit | Promise<Visit> {
    return this.#deps.user?.(request).then((user) => this.#visit(request, user)) ?? this.#visit(request, undefined);
  }

  #visit(request: HttpRequest, user: VisitorUser | undefined): Visit {
    const { crypto, keys } = this.#deps;
    const found = this.#cookie(request, user);
    // A time to come is that of another clock.
    const isDue = found === undefined || Math.abs(this.#now() - found.writtenS) > this.#deps.maxAgeS / 2;
    const [current] = keys;
    if (user === undefined || current === undefined) {
      const secret = found?.secret ?? crypto.random(SECRET_BYTES, 'base64url');
      return { keys: [cookieKey(secret)], user, cookie: isDue ? this.#written(request, secret) : undefined };
    }
    const own = keys.map(({ mint }): VisitorKey => ({ kind: 'user', user: user.key, key: mint }));
    const all = [...own, ...(found === undefined ? [] : [cookieKey(found.secret)])] as unknown as Visitor['keys'];
    // After a sign-in, the conversations begun before it are this user's alone.
    const seal = found !== undefined && (isDue || !found.isSealed);
    const cookie = seal
      ? this.#written(request, `s.${crypto.seal(current.seal, sealName(user), found.secret)}`)
      : undefined;
    return { keys: all, user, cookie };
  }

  /**
   * The secret of this visitor's cookie. Two cookies with this name count as none, since another host may have set one.
   */
  #cookie(
    request: HttpRequest,
    user: VisitorUser | undefined,
  ): { readonly secret: string; readonly isSealed: boolean; readonly writtenS: number } | undefined {
    const { cookie } = request.headers;
    if (cookie === undefined) return undefined;
    const name = this.#name;
    const hostName = this.#hostName;
    let isSafe = false;
    let value = '';
    let count = 0;
    // Searched instead of split, since a site has many cookies.
    const text = `${typeof cookie === 'string' ? cookie : cookie.join(';')};`;
    for (let at = text.indexOf(name), end = 0; at >= 0; at = text.indexOf(name, end)) {
      end = text.indexOf(';', at);
      const [found, given] = cookiePair(text.slice(text.lastIndexOf(';', at) + 1, end));
      if (found === hostName && !isSafe) {
        isSafe = true;
        count = 0;
      }
      if (found !== (isSafe ? hostName : name)) continue;
      value = given;
      count += 1;
    }
    if (count !== 1 || !VALUE.test(value) || (!isSafe && this.#isHttps(request))) return undefined;
    const end = value.lastIndexOf('.');
    const writtenS = Number.parseInt(value.slice(end + 1), 36);
    if (!value.startsWith('s.')) return { secret: value.slice(0, end), isSealed: false, writtenS };
    if (user === undefined) return undefined;
    const sealed = value.slice(2, end);
    for (const { seal } of this.#deps.keys) {
      const secret = this.#deps.crypto.open(seal, sealName(user), sealed);
      if (secret !== undefined) return { secret, isSealed: true, writtenS };
    }
    return undefined;
  }

  #written(request: HttpRequest, value: string): string {
    const { maxAgeS } = this.#deps;
    const written = `${value}.${this.#now().toString(36)}`;
    return setCookie(this.#name, this.#isHttps(request), isEmbedded(request), written, maxAgeS);
  }

  /** True if the visitor uses https: by the page, or else by the site's public address. */
  #isHttps(request: HttpRequest): boolean {
    // A browser keeps no other cookie there. `localhost` counts as https.
    if (isEmbedded(request)) return true;
    const origin = String(request.headers['origin']);
    return /^https:/i.test(/^https?:/i.test(origin) ? origin : this.#deps.publicUrl || request.publicUrl);
  }

  #now(): number {
    return Math.floor(this.#deps.clock.now() / 1000);
  }
}

/**
 * The values of `Set-Cookie` that make a browser forget its visitor, for the response to a sign-out: set all of them.
 * A signed-in user's conversations stay theirs, and open again after the next sign-in.
 *
 * @example
 * ```ts
 * import { forgetVisitorCookies } from 'agent-bff';
 *
 * const response = new Response(null, { status: 204 });
 * for (const cookie of forgetVisitorCookies()) response.headers.append('set-cookie', cookie);
 * ```
 *
 * @public
 */
export function forgetVisitorCookies(): readonly string[] {
  return [NAME, USER_NAME].flatMap((name) => [
    setCookie(name, false, false, '', 0),
    setCookie(name, true, false, '', 0),
    setCookie(name, true, true, '', 0),
  ]);
}

function setCookie(name: string, isHttps: boolean, isEmbedded: boolean, value: string, maxAgeS: number): string {
  const prefix = isHttps ? HOST_PREFIX : '';
  const secure = isHttps ? '; Secure' : '';
  const site = isEmbedded ? 'None; Partitioned' : 'Lax';
  return `${prefix}${name}=${value}; Path=/; Max-Age=${String(maxAgeS)}; HttpOnly${secure}; SameSite=${site}`;
}

/** True in a page of another site, which `allowedOrigins` lists, and in the site's own page in a frame of another site. */
function isEmbedded({ headers }: HttpRequest): boolean {
  return headers['sec-fetch-site'] === 'cross-site' || headers['sec-fetch-storage-access'] !== undefined;
}

function cookieKey(key: string): VisitorKey {
  return { kind: 'cookie', user: '', key };
}

function sealName({ key }: VisitorUser): string {
  return `agent-bff visitor ${key}`;
}
