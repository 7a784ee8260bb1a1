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
/** A browser accepts this name from the host itself over https only, so no other host of the domain can set it. */
const HOST_NAME = `__Host-${NAME}`;
const SECRET_BYTES = 16;
/** The secret in its canonical spelling, or sealed to a user; then the time it was written, in seconds. */
const VALUE = /^(?:[\w-]{21}[AQgw]|s\.[\w-]{67})\.[0-9a-z]{1,9}$/;

/** Recognises visitors: by the site's own user, or else by a random cookie, whose secret is the key of their conversations. */
export class Visitors {
  readonly #deps: VisitorsDependencies;

  constructor(dependencies: VisitorsDependencies) {
    this.#deps = dependencies;
  }

  /** The visitor. A promise only if the site's own function names the user. */
  of(request: HttpRequest): Visit | Promise<Visit> {
    return this.#deps.user?.(request).then((user) => this.#visit(request, user)) ?? this.#visit(request, undefined);
  }

  #visit(request: HttpRequest, user: VisitorUser | undefined): Visit {
    const { crypto, keys } = this.#deps;
    const found = this.#cookie(request, user);
    const isDue = found === undefined || this.#now() - found.writtenS > this.#deps.maxAgeS / 2;
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
    let isSafe = false;
    let value = '';
    let count = 0;
    // Searched instead of split, since a site has many cookies.
    const text = `${typeof cookie === 'string' ? cookie : cookie.join(';')};`;
    for (let at = text.indexOf(NAME), end = 0; at >= 0; at = text.indexOf(NAME, end)) {
      end = text.indexOf(';', at);
      const [name, given] = cookiePair(text.slice(text.lastIndexOf(';', at) + 1, end));
      if (name === HOST_NAME && !isSafe) {
        isSafe = true;
        count = 0;
      }
      if (name !== (isSafe ? HOST_NAME : NAME)) continue;
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
    const isHttps = this.#isHttps(request);
    // Only a page that `allowedOrigins` lists gets here from another site.
    const isEmbedded = isHttps && request.headers['sec-fetch-site'] === 'cross-site';
    const { maxAgeS } = this.#deps;
    return setCookie(isHttps, isEmbedded, `${value}.${this.#now().toString(36)}`, maxAgeS);
  }

  /** True if the visitor uses https: by the page, or else by the site's public address. */
  #isHttps(request: HttpRequest): boolean {
    const { origin, 'sec-fetch-site': site } = request.headers;
    const isOwn = site !== 'cross-site' && /^https?:/i.test(String(origin));
    return /^https:/i.test(isOwn ? String(origin) : this.#deps.publicUrl || request.publicUrl);
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
  return [setCookie(false, false, '', 0), setCookie(true, false, '', 0), setCookie(true, true, '', 0)];
}

function setCookie(isHttps: boolean, isEmbedded: boolean, value: string, maxAgeS: number): string {
  const site = isEmbedded ? 'None; Partitioned' : 'Lax';
  const name = isHttps ? HOST_NAME : NAME;
  const secure = isHttps ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${String(maxAgeS)}; HttpOnly${secure}; SameSite=${site}`;
}

function cookieKey(key: string): VisitorKey {
  return { kind: 'cookie', user: '', key };
}

function sealName({ key }: VisitorUser): string {
  return `agent-bff visitor ${key}`;
}
