import type { HeaderFields, RequestContext } from '../../src/ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../src/ports/session-token-source.js';

/** A request of a framework and its response. */
export const visit = (request: unknown, response?: unknown, headers: HeaderFields = {}): RequestContext => ({
  headers,
  native: { request, ...(response !== undefined && { response }) },
});
/** The result of a source for a request. */
export const ask = (
  source: SessionTokenSource,
  request = visit({}),
  query: SessionTokenQuery = {},
): Promise<SessionToken> => source.getToken(request, query);

const fault = (facts: object): Error => Object.assign(new Error('with eyJhbGciOi.secret inside'), facts);
/** A library call that fails. The token in its message must not appear anywhere. */
export const rejects = (facts: object) => (): Promise<never> => Promise.reject(fault(facts));
/** An unsigned JWT. */
export const jwt = (claims: object): string =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;

/** The part of a Node response that carries cookies. */
export class NodeResponse {
  readonly cookies: string[] = [];
  headersSent = false;
  /** A single one is a text, as in Node. */
  readonly getHeader = (): string | string[] | undefined =>
    this.cookies.length > 1 ? [...this.cookies] : this.cookies[0];
  readonly appendHeader = (_name: string, cookie: string): number => this.cookies.push(cookie);
  readonly setHeader = (_name: string, cookies: readonly string[]): void =>
    void this.cookies.splice(0, this.cookies.length, ...cookies);
}
