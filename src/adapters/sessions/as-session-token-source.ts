import type {
  SessionRequest,
  SessionToken,
  SessionTokenQuery,
  SessionTokenSource,
} from '../../ports/session-token-source.js';

/**
 * Reads the signed-in user's token from the framework's own request (Express `req`, a Web `Request`, a Koa context); `null` when nobody is signed in.
 *
 * @public
 */
// `any`, because each framework's request has its own type and the site's function names it.
// oxlint-disable-next-line typescript/no-explicit-any
export type SessionTokenFunction = (
  request: any,
  query: SessionTokenQuery,
) => SessionTokenResult | Promise<SessionTokenResult>;

type SessionTokenResult = string | null | undefined;

/**
 * Anything that can give the signed-in user's token.
 *
 * @public
 */
export type SessionTokenLike = SessionTokenSource | SessionTokenFunction;

/**
 * Makes a session token source of what a site has.
 *
 * @public
 */
export function asSessionTokenSource(like: SessionTokenLike): SessionTokenSource {
  return typeof like === 'function' ? new FunctionSource(like) : like;
}

class FunctionSource implements SessionTokenSource {
  readonly #read: SessionTokenFunction;

  constructor(read: SessionTokenFunction) {
    this.#read = read;
  }

  async getToken(request: SessionRequest, query: SessionTokenQuery): Promise<SessionToken> {
    const accessToken = await this.#read(request.native.request, query);
    return accessToken === null || accessToken === undefined || accessToken === ''
      ? { kind: 'no-session' }
      : { kind: 'token', accessToken };
  }
}
