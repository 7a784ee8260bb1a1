import type { RequestContext } from '../../ports/http.js';
import type {
  SessionToken,
  SessionTokenQuery,
  SessionTokenSource,
  SessionUser,
} from '../../ports/session-token-source.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { isAgentBffError, NOT_MOUNTED, ServiceAuthError, sessionFailed } from '../shared/errors.js';
import { warnOnce } from '../shared/warnings.js';
import { isTokenText, sessionError, withoutScheme } from './credential.js';
import type { FoundToken, RouteAuth } from './route-auth.js';
import { NO_SESSION_TOKEN } from './site-results.js';

type UserAuth = Pick<RouteAuth<'session'>, 'source' | 'nameOf' | 'audience' | 'exchange'>;

export interface UserToken {
  readonly value: string;
  /** A stable name of the user for caches; absent if the session has none. */
  readonly name: readonly string[] | undefined;
  /** The user's names in the session. */
  readonly user: SessionUser;
  /** The API the route needs it for; empty if the session decides. */
  readonly audience: string;
  /** The tenant it is for; absent if unknown. */
  readonly tenant: string | undefined;
  /** The session's own token. */
  readonly sessionToken: string;
  /** The principal of the exchange it came from; absent without an exchange. */
  readonly exchange: string | undefined;
  /** The cache key of an exchanged token. */
  readonly cacheKey: string | undefined;
}

/**
 * The signed-in user's token for one request, exchanged if the route is configured so; `undefined` without a session.
 * It never falls back to another credential. `forceRefresh`: the platform rejected the last token.
 *
 * @throws SessionError (`session_expired`, `interaction_required`) when the user must act.
 * @throws ServiceAuthError when the session cannot be read, or the exchange fails for every user.
 */
export async function userToken(
  auth: UserAuth,
  request: RequestContext,
  forceRefresh = false,
): Promise<UserToken | undefined> {
  const wanted = wantedToken(auth);
  const found = await readSession(auth.source, request, forceRefresh ? { ...wanted, forceRefresh } : wanted);
  if (found.kind === 'no-session') return undefined;
  if (found.kind === 'expired')
    throw sessionError(found.reason ?? 'expired', found.log ?? 'the session has expired', found.claims);
  const { accessToken, tenant, expiresAt } = found;
  const { audience, exchange } = auth;
  const name = auth.nameOf(found);
  const exchanged = await exchange?.obtain({
    assertion: accessToken,
    ...(audience === '' ? {} : { audience }),
    ...(expiresAt === undefined ? {} : { assertionExpiresAt: expiresAt }),
  });
  return {
    value: exchanged?.token.value ?? accessToken,
    name,
    user: userOf(found),
    audience,
    tenant,
    sessionToken: accessToken,
    exchange: exchanged?.principal,
    cacheKey: exchanged?.cacheKey,
  };
}

/** The signed-in user of a request. */
export interface FoundUser {
  readonly user: SessionUser;
  /** A stable name, the same in every process; absent if the token decides whose the session is. */
  readonly name: readonly string[] | undefined;
}

/** The signed-in user; `undefined` without a session. */
export async function sessionUser(auth: UserAuth, request: RequestContext): Promise<FoundUser | undefined> {
  const found = await readSession(auth.source, request, wantedToken(auth));
  return found.kind === 'token' ? { user: userOf(found), name: auth.nameOf(found) } : undefined;
}

function userOf({ subject, issuer, tenant }: FoundToken): SessionUser {
  return {
    ...(subject !== undefined && { subject }),
    ...(issuer !== undefined && { issuer }),
    ...(tenant !== undefined && { tenant }),
  };
}

/** With an exchange, the audience is that of the exchanged token; the session's token is for this site. */
function wantedToken({ audience, exchange }: UserAuth): SessionTokenQuery {
  return audience !== '' && exchange === undefined ? { audience } : {};
}

/** The user's token, renewed because the platform rejected it; `undefined` if the session cannot renew it. */
export async function refreshedToken(
  auth: UserAuth,
  request: RequestContext,
  telemetry: Telemetry,
): Promise<UserToken | undefined> {
  try {
    return await userToken(auth, request, true);
  } catch (error) {
    if (!isAgentBffError(error)) throw error;
    telemetry.emit({ type: 'token', outcome: 'rejected', block: 'session', detail: error.logDetail() });
    return undefined;
  }
}

/**
 * The session's token. A source that throws is broken, which is different from having no session: signing in again
 * would not help. Errors of this package are rethrown.
 */
async function readSession(
  source: SessionTokenSource,
  request: RequestContext,
  query: SessionTokenQuery,
): Promise<SessionToken> {
  try {
    const found = await source.getToken(request, query);
    // Otherwise, a session that lost its token would send the request without one.
    if (found.kind !== 'token') return found;
    const accessToken = withoutScheme(found.accessToken);
    if (!isTokenText(accessToken)) throw sessionFailed(NO_SESSION_TOKEN);
    return withNames({ ...found, accessToken });
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    const log = error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
    if (error instanceof TypeError && ABSENT.test(error.message))
      throw sessionFailed(`${log}: the middleware it needs ${NOT_MOUNTED}`);
    throw new ServiceAuthError('identity_provider_unavailable', {
      detail: 'The session could not be read.',
      hint: 'Try again; the server log has the cause.',
      block: 'session',
      retryable: true,
      log,
    });
  }
}

/** Matches what V8 and JavaScriptCore say of a missing object or function, such as `request.session.token` without a session. */
const ABSENT = /^(?:Cannot (?:read|destructure)|undefined is not an object)|is not a function/;

const NAMES = ['subject', 'issuer', 'tenant'] as const;

/** The token without empty names. Objects are rejected as names, since they have the same text for all users. */
function withNames(found: FoundToken): FoundToken {
  const { subject, issuer, tenant, ...rest } = found;
  const names: Readonly<Record<string, unknown>> = { subject, issuer, tenant };
  const given = NAMES.filter((name) => ![undefined, null, ''].includes(names[name] as string));
  const wrong = given.find((name) => typeof names[name] !== 'string');
  if (wrong !== undefined)
    throw sessionFailed(`it returned a "${wrong}" of type ${typeof names[wrong]}: return a string`);
  return { ...rest, ...Object.fromEntries(given.map((name) => [name, names[name]])) };
}

export interface UserNamesDependencies {
  /** The session sources of all routes that cache data per user; sources added later are included. */
  readonly sources: () => Iterable<SessionTokenSource>;
  readonly telemetry: Telemetry;
}

const UNNAMED =
  'Renders are not cached for signed-in users: several session sources, or copies of one that a bundler or a reload made, return subjects without an issuer, and two users may have the same one. Set a "name" for each source, such as "staff".';

/**
 * Names users. A subject identifies a user only with its issuer, or in a named source: user 1 of the staff is not user
 * 1 of the shop. A bare subject, with neither, is only a name as long as no other source has bare subjects too.
 */
export class UserNames {
  readonly #deps: UserNamesDependencies;
  /** True once a source returned a bare subject; absent before its first token. */
  readonly #isBare = new WeakMap<SessionTokenSource, boolean>();

  constructor(dependencies: UserNamesDependencies) {
    this.#deps = dependencies;
  }

  /** A stable name for the user of this token, the same in every process; `undefined` if there is none. */
  nameOf(source: SessionTokenSource, { subject, issuer }: FoundToken): readonly string[] | undefined {
    if (!isGiven(subject)) return this.#noted(source, undefined);
    if (isGiven(issuer)) return this.#noted(source, ['issuer', issuer, subject]);
    if (isGiven(source.name)) return ['source', source.name, subject];
    if (this.#isBare.get(source) !== true) this.#isBare.set(source, true);
    if (!this.#hasRival(source)) return ['subject', subject];
    warnOnce(this.#deps.telemetry, 'session_source_unnamed', UNNAMED);
    return undefined;
  }

  /** A source whose first token has no bare subject is assumed never to have one. */
  #noted(source: SessionTokenSource, name: readonly string[] | undefined): readonly string[] | undefined {
    if (!this.#isBare.has(source)) this.#isBare.set(source, false);
    return name;
  }

  #hasRival(source: SessionTokenSource): boolean {
    let isListed = false;
    let hasRival = false;
    for (const other of this.#deps.sources()) {
      if (other === source) isListed = true;
      else if (!isGiven(other.name) && this.#isBare.get(other) !== false) hasRival = true;
    }
    return isListed && hasRival;
  }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
