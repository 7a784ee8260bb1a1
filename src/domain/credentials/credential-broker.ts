import type { Clock } from '../../ports/clock.js';
import type { RequestContext } from '../../ports/http.js';
import type { AccessToken, IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import { delimited } from '../shared/delimited.js';
import type { Secret } from '../shared/secret.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { ServiceAuthError, SessionError } from '../errors.js';
import { Credential, type CredentialOwner, serviceAuthError } from './credential.js';
import { PlatformClock } from './platform-clock.js';
import { refreshedToken, type SessionAuth, userToken, type UserToken } from './session-credentials.js';
import type { RouteFields } from './site-fields.js';
import { statedIdentity } from './stated-identity.js';
import { chooseStrategy, type ChosenStrategy, type ProviderFlows } from './strategy.js';
import type { IssueToken, TokenCache } from './token-cache.js';

/** Which credential a route attaches. */
export type CredentialAuth = { readonly fields?: RouteFields | undefined } & (
  | {
      readonly kind: 'service';
      /** Replaces the configured strategy; an empty string leaves it. */
      readonly strategy: string;
      /** Replaces the configured API key. */
      readonly apiKey: Secret | undefined;
    }
  | ({
      readonly kind: 'session';
      readonly apiKey: Secret | undefined;
      /** Whether a request without a session is refused; else it carries the API key alone. */
      readonly required: boolean;
    } & SessionAuth)
  | {
      readonly kind: 'api-key';
      readonly apiKey: Secret | undefined;
    }
);

/** The site's own credential. */
export type ServiceAuth = Extract<CredentialAuth, { kind: 'service' }>;

/** What the broker is made of; all of it fixed until the configuration changes. */
export interface CredentialBrokerDependencies {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly tokens: TokenCache;
  /** Loads a provider by the name the strategy table gives; built-in ones import their library here. */
  readonly provider: (name: string) => Promise<IdentityProvider> | undefined;
  readonly flows: ProviderFlows;
  readonly strategy: string;
  readonly authProvider: string;
  readonly hasServiceAccount: boolean;
  readonly customProviders: ReadonlySet<string>;
  readonly apiKey: Secret | undefined;
  readonly apiKeyHeader: string;
  /** A one-way function without collisions: names an API key, or a token, without revealing it. */
  readonly hash: (text: string) => string;
}

const FAILURES = {
  incomplete: 'The configuration of the service credential is incomplete.',
  refused: 'The service credential was refused or cannot be used.',
};

interface KnownProvider {
  readonly provider: IdentityProvider;
  /** The cache key of the last token; compared again whenever that token is due. */
  readonly key: string;
  readonly principal: string;
  /** The last credentials, by the API key that goes with them: header objects are made once per token, not once per request. */
  readonly credentials: WeakMap<object, Credential>;
}

/** Obtains the credential a route attaches, and renews it when the platform refuses it. */
export class CredentialBroker {
  readonly #deps: CredentialBrokerDependencies;
  readonly #known = new Map<string, KnownProvider>();
  readonly #platformClock: PlatformClock;
  readonly #keyNames = new WeakMap<Secret, string>();
  /** The API key as the only credential. */
  readonly #keyCredentials = new WeakMap<Secret, Credential>();

  constructor(dependencies: CredentialBrokerDependencies) {
    this.#deps = dependencies;
    this.#platformClock = new PlatformClock(dependencies);
  }

  /**
   * The credential for one request.
   *
   * @throws ServiceAuthError when no service credential can be produced.
   * @throws SessionError when the route needs a session and there is none.
   */
  async obtain(auth: CredentialAuth, request: RequestContext): Promise<Credential> {
    switch (auth.kind) {
      case 'service':
        return this.#service(auth);
      case 'session':
        return this.#session(auth, request);
      case 'api-key':
        return this.#apiKeyAlone(auth.apiKey ?? this.#deps.apiKey);
    }
  }

  /**
   * A fresh credential after the platform refused this one; absent when there is nothing to renew.
   * Many callers refused together cause one renewal; a user's own token is renewed by its session. `platformDate` is the `Date` field of the refusal: tokens signed here follow the platform's clock.
   */
  async renew(
    auth: CredentialAuth,
    refused: Credential,
    request: RequestContext,
    platformDate: string,
  ): Promise<Credential | undefined> {
    if (refused.token === undefined) return undefined;
    if (refused.cacheKey === undefined) {
      return auth.kind === 'session' ? this.#refreshed(auth, refused, request) : undefined;
    }
    this.#platformClock.compare(Date.parse(platformDate));
    if (!(await this.#deps.tokens.reject(refused.cacheKey, refused.token))) return undefined;
    for (const { key, provider } of this.#known.values()) if (key === refused.cacheKey) provider.recheck?.();
    const renewed = await this.obtain(auth, request);
    return renewed.token === refused.token ? undefined : renewed;
  }

  /** Names the tokens of the configured strategy without asking for one, so that the first request finds a token kept from before. */
  async recall(): Promise<void> {
    const chosen = this.#choose('', this.#deps.apiKey);
    if (chosen.kind !== 'provider') return;
    // Whatever is wrong is reported to the request that needs the token.
    await this.#identify(chosen.name).catch(() => undefined);
  }

  /** The service token of a strategy in memory, when there is one that has not expired; an empty one is the configured. Asks nobody. */
  cachedServiceToken(strategy = ''): AccessToken | undefined {
    const chosen = this.#choose(strategy, this.#deps.apiKey);
    const known = chosen.kind === 'provider' ? this.#known.get(chosen.name) : undefined;
    return known === undefined ? undefined : this.#deps.tokens.peek(known.key);
  }

  async #service(auth: ServiceAuth): Promise<Credential> {
    const apiKey = auth.apiKey ?? this.#deps.apiKey;
    const chosen = this.#choose(auth.strategy, apiKey);
    if (chosen.kind === 'none') throw noStrategy();
    if (chosen.kind === 'api-key') return this.#apiKeyAlone(apiKey);
    const known = this.#known.get(chosen.name);
    const token = known && this.#deps.tokens.fresh(known.key);
    if (known && token) return this.#credentialOf(chosen.name, known, token, auth.apiKey);
    return this.#ask(chosen.name, auth.apiKey);
  }

  async #ask(name: string, planKey: Secret | undefined): Promise<Credential> {
    const known = await this.#identify(name);
    const { provider, key } = known;
    const issue: IssueToken =
      provider.signsLocally === true ? (now) => this.#sign(provider, now) : (now) => provider.issue(now);
    const outcome = await this.#deps.tokens.get(key, provider.block, issue);
    if (outcome.kind === 'failure') throw serviceAuthError(outcome, FAILURES);
    return this.#credentialOf(name, known, outcome.token, planKey);
  }

  /** The provider of a strategy and the key of its tokens; the last known ones when the provider cannot even say who it is. */
  async #identify(name: string): Promise<KnownProvider> {
    const loading = this.#deps.provider(name);
    if (loading === undefined) throw noStrategy();
    const last = this.#known.get(name);
    try {
      const provider = await loading;
      const { principal, proof } = await statedIdentity(provider);
      const key = JSON.stringify(['service', name, principal, proof]);
      if (last?.key === key) return last;
      const known = { provider, key, principal, credentials: new WeakMap() };
      this.#known.set(name, known);
      return known;
    } catch (error) {
      if (last !== undefined) return last;
      throw new ServiceAuthError('identity_provider_unavailable', {
        detail: 'The identity provider of this strategy cannot be used.',
        hint: 'The server log says what failed.',
        block: 'configureServer',
        fields: ['serviceAuthStrategy'],
        retryable: true,
        log: error instanceof Error ? `${error.name}: ${error.message}` : typeof error,
      });
    }
  }

  /** Signs by the platform's clock, and expires by ours. */
  async #sign(provider: IdentityProvider, now: number): Promise<IssueOutcome> {
    const skewMs = this.#platformClock.aheadMs;
    const outcome = await provider.issue(now + skewMs);
    if (outcome.kind === 'failure' || skewMs === 0) return outcome;
    return { kind: 'token', token: { ...outcome.token, expiresAt: outcome.token.expiresAt - skewMs } };
  }

  #credentialOf(name: string, known: KnownProvider, token: AccessToken, planKey: Secret | undefined): Credential {
    const apiKey = planKey ?? this.#deps.apiKey;
    const last = known.credentials.get(apiKey ?? known);
    if (last?.token === token.value) return last;
    const owner = ownerOf(JSON.stringify(['service', name, known.principal, this.#keyName(apiKey)]));
    const credential = new Credential({
      kind: 'service',
      headers: this.#headers(token.value, apiKey),
      owner: () => owner,
      block: known.provider.block,
      cacheKey: known.key,
      token: token.value,
    });
    known.credentials.set(apiKey ?? known, credential);
    return credential;
  }

  async #session(auth: Extract<CredentialAuth, { kind: 'session' }>, request: RequestContext): Promise<Credential> {
    const apiKey = auth.apiKey ?? this.#deps.apiKey;
    const user = await userToken(auth, request);
    if (user === undefined) {
      if (!auth.required) return this.#apiKeyAlone(apiKey);
      throw new SessionError('session_required', { detail: 'Nobody is signed in.', hint: 'Sign in and try again.' });
    }
    return this.#userCredential(user, apiKey);
  }

  /** What the session gives instead of a token the platform refused; where it gives nothing else, the platform's response stands. */
  async #refreshed(
    auth: Extract<CredentialAuth, { kind: 'session' }>,
    refused: Credential,
    request: RequestContext,
  ): Promise<Credential | undefined> {
    const user = await refreshedToken(auth, request, this.#deps.telemetry);
    if (user === undefined || user.value === refused.token) return undefined;
    const renewed = this.#userCredential(user, auth.apiKey ?? this.#deps.apiKey);
    // What came of the request so far is kept under the name of the user it began with.
    return renewed.owner.principal === refused.owner.principal ? renewed : undefined;
  }

  #userCredential(user: UserToken, apiKey: Secret | undefined): Credential {
    return new Credential({
      kind: 'session',
      headers: this.#headers(user.value, apiKey),
      owner: () => this.#userOwner(user, apiKey),
      block: 'session',
      cacheKey: user.cacheKey,
      token: user.value,
    });
  }

  #userOwner(user: UserToken, apiKey: Secret | undefined): CredentialOwner {
    const { name, tenant, audience, exchange, sessionToken } = user;
    // Put together by hand: this is on the way of every render of a user.
    let facts = delimited(tenant ?? null) + delimited(audience) + delimited(exchange ?? null);
    facts += delimited(this.#keyName(apiKey));
    for (const part of name ?? []) facts += delimited(part);
    const principal = name === undefined ? undefined : `user ${facts}`;
    if (principal !== undefined && tenant !== undefined) return ownerOf(principal);
    // The same user may have switched to another organization, which only the token knows.
    return { principal, reader: `token ${this.#deps.hash(sessionToken)} ${facts}` };
  }

  /** The API key as the only credential (spec §5.5). */
  #apiKeyAlone(apiKey: Secret | undefined): Credential {
    if (apiKey === undefined) throw noApiKey();
    const known = this.#keyCredentials.get(apiKey);
    if (known !== undefined) return known;
    const owner = ownerOf(JSON.stringify(['api-key', this.#keyName(apiKey)]));
    const credential = new Credential({
      kind: 'api-key',
      headers: this.#headers(undefined, apiKey),
      owner: () => owner,
      block: 'serviceApiKey',
      cacheKey: undefined,
      token: undefined,
    });
    this.#keyCredentials.set(apiKey, credential);
    return credential;
  }

  /** Names an API key: platforms bind tenants to keys. Alike in every process; no key can be worked out from it, since keys are random. */
  #keyName(apiKey: Secret | undefined): string | null {
    if (apiKey === undefined) return null;
    let name = this.#keyNames.get(apiKey);
    if (name === undefined) {
      name = this.#deps.hash(`agent-bff API key ${apiKey.reveal()}`);
      this.#keyNames.set(apiKey, name);
    }
    return name;
  }

  #choose(strategy: string, apiKey: Secret | undefined): ChosenStrategy {
    const { flows, authProvider, hasServiceAccount, customProviders } = this.#deps;
    return chooseStrategy({
      flows,
      strategy: strategy === '' ? this.#deps.strategy : strategy,
      authProvider,
      hasServiceAccount,
      hasApiKey: apiKey !== undefined,
      customProviders,
    });
  }

  #headers(token: string | undefined, apiKey: Secret | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (apiKey !== undefined) headers[this.#deps.apiKeyHeader] = apiKey.reveal();
    return headers;
  }
}

/** The owner of a credential that shows the same to every holder. */
function ownerOf(principal: string): CredentialOwner {
  return { principal, reader: principal };
}

function noApiKey(): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', {
    detail: 'The server has no API key for the platform.',
    hint: 'Set "serviceApiKey" in configureServer, or "apiKey" where the route is made.',
    block: 'configureServer',
    fields: ['serviceApiKey'],
  });
}

function noStrategy(): ServiceAuthError {
  return new ServiceAuthError('service_auth_failed', {
    detail: 'The server has no credential for the platform.',
    hint: 'Set "serviceAuthStrategy" in configureServer, or "strategy" where the credential is used, and fill the configuration block it names; or set "serviceApiKey".',
    block: 'configureServer',
    fields: ['serviceAuthStrategy', 'serviceApiKey'],
  });
}
