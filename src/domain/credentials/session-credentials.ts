import type { RequestContext } from '../../ports/http.js';
import type { SessionToken, SessionTokenQuery, SessionTokenSource } from '../../ports/session-token-source.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { isAgentBffError, ServiceAuthError } from '../shared/errors.js';
import { isTokenText, sessionError, withoutScheme } from './credential.js';
import type { FoundToken, RouteAuth } from './route-auth.js';

type UserAuth = Pick<RouteAuth<'session'>, 'source' | 'nameOf' | 'audience' | 'exchange'>;

/** The signed-in user's token, ready for the platform. */
export interface UserToken {
  readonly value: string;
  /** A stable name of the user for caches; absent when the session gives none. */
  readonly name: readonly string[] | undefined;
  /** The API a route wanted it for; empty when that is left to the session. */
  readonly audience: string;
  /** The tenant it is for; absent when that is not known. */
  readonly tenant: string | undefined;
  /** The session's own token. */
  readonly sessionToken: string;
  /** The principal of the exchange it came from; absent without one. */
  readonly exchange: string | undefined;
  /** The cache key of an exchanged token. */
  readonly cacheKey: string | undefined;
}

/**
 * The signed-in user's token for one request, exchanged where the route is configured so; `undefined` without a session.
 * There is no way from here to another credential. `forceRefresh`: the platform refused the last one.
 *
 * @throws SessionError (`session_expired`, `interaction_required`) when the user must act.
 * @throws ServiceAuthError when the session cannot be read, or the exchange fails for every user.
 */
export async function userToken(
  auth: UserAuth,
  request: RequestContext,
  forceRefresh = false,
): Promise<UserToken | undefined> {
  // With an exchange, the audience is that of the exchanged token; the session's own is for this site.
  const wanted = auth.audience !== '' && auth.exchange === undefined ? { audience: auth.audience } : {};
  const found = await readSession(auth.source, request, forceRefresh ? { ...wanted, forceRefresh } : wanted);
  if (found.kind === 'no-session') return undefined;
  if (found.kind === 'expired')
    throw sessionError(found.reason ?? 'expired', found.detail ?? 'the session has expired');
  const { accessToken, tenant, expiresAt } = found;
  const { audience, exchange } = auth;
  const name = auth.nameOf(found);
  const exchanged = await exchange?.obtain({
    assertion: accessToken,
    ...(audience === '' ? {} : { audience }),
    ...(expiresAt === undefined ? {} : { assertionExpiresAt: expiresAt }),
  });
  // Field by field: a spread costs more than all the rest of this, and a user's cached render comes by here.
  return {
    value: exchanged?.token.value ?? accessToken,
    name,
    audience,
    tenant,
    sessionToken: accessToken,
    exchange: exchanged?.principal,
    cacheKey: exchanged?.cacheKey,
  };
}

/** The user's token, renewed because the platform refused it; `undefined` when the session does not give it. */
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

/** The session's token. A source that throws is out of order: that is no absent session, and no reason to sign in again. Errors of this package pass. */
async function readSession(
  source: SessionTokenSource,
  request: RequestContext,
  query: SessionTokenQuery,
): Promise<SessionToken> {
  try {
    const found = await source.getToken(request, query);
    // Without this, a session that lost its token would let the request go out without any.
    if (found.kind !== 'token') return found;
    const accessToken = withoutScheme(found.accessToken);
    if (!isTokenText(accessToken))
      throw new TypeError('the session gave no token: one is visible ASCII without blanks');
    return withNames({ ...found, accessToken });
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    throw new ServiceAuthError('identity_provider_unavailable', {
      detail: 'The session could not be read.',
      hint: 'Try again; the server log says what failed.',
      block: 'session',
      retryable: true,
      log: error instanceof Error ? `${error.name}: ${error.message}` : typeof error,
    });
  }
}

const NAMES = ['subject', 'issuer', 'tenant'] as const;

/** Without names that are empty. Objects have one text for all users, so they are refused. */
function withNames(found: FoundToken): FoundToken {
  const { subject, issuer, tenant, ...rest } = found;
  const names: Readonly<Record<string, unknown>> = { subject, issuer, tenant };
  const given = NAMES.filter((name) => ![undefined, null, ''].includes(names[name] as string));
  const wrong = given.find((name) => typeof names[name] !== 'string');
  if (wrong !== undefined) throw new TypeError(`the session gave a ${wrong} that is ${typeof names[wrong]}, not text`);
  return { ...rest, ...Object.fromEntries(given.map((name) => [name, names[name]])) };
}

/** The parts that users' names need. */
export interface UserNamesDependencies {
  /** The session sources of all routes that keep something for users; one that is added later counts from then on. */
  readonly sources: () => Iterable<SessionTokenSource>;
  readonly telemetry: Telemetry;
}

/**
 * Names users. A subject names a user only at its issuer, or in a source that has a name: user 1 of the staff is not user 1 of the shop.
 * A bare subject, with neither, is a name while no other source can give bare subjects too.
 */
export class UserNames {
  readonly #deps: UserNamesDependencies;
  /** True once a source gave a bare subject; absent before its first token. */
  readonly #isBare = new Map<SessionTokenSource, boolean>();
  #hasWarned = false;

  constructor(dependencies: UserNamesDependencies) {
    this.#deps = dependencies;
  }

  /** A stable name of the user of this token, alike in every process; `undefined` when there is none. */
  nameOf(source: SessionTokenSource, { subject, issuer }: FoundToken): readonly string[] | undefined {
    if (!isGiven(subject)) return this.#noted(source, undefined);
    if (isGiven(issuer)) return this.#noted(source, ['issuer', issuer, subject]);
    if (isGiven(source.name)) return ['source', source.name, subject];
    if (this.#isBare.get(source) !== true) this.#isBare.set(source, true);
    if (!this.#hasRival(source)) return ['subject', subject];
    this.#warn();
    return undefined;
  }

  /** A source that begins without bare subjects is believed to go on so. */
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

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#deps.telemetry.emit({
      type: 'warning',
      code: 'session_source_unnamed',
      detail:
        'Nothing is cached for signed-in users: several session sources give subjects without an issuer, and two users may have the same one. Give each source a "name", such as "staff".',
    });
  }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
