import type { Clock } from '../../ports/clock.js';
import type { RequestContext } from '../../ports/http.js';
import type { AccessToken, IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import { clockDifference, TOLERATED_SKEW_MS } from '../shared/clock-difference.js';
import { delimited } from '../shared/json.js';
import type { Secret } from '../shared/secret.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { ServiceAuthError, SessionError } from '../shared/errors.js';
import { forwardedFields } from '../shared/header-policy.js';
import {
  Credential,
  type CredentialOwner,
  NO_CREDENTIAL,
  notSet,
  ownerOf,
  serviceAuthError,
  statedIdentity,
} from './credential.js';
import type { MessageFacts, RouteAuth, RouteFields } from './route-auth.js';
import { refreshedToken, userToken, type UserToken } from './session-credentials.js';
import { checkedOutcome } from './site-results.js';
import type { IssueToken, TokenCache } from './token-cache.js';

/** The dependencies of the broker, fixed until the configuration changes. */
export interface CredentialBrokerDependencies extends Omit<StrategyFacts, 'hasApiKey'> {
  /** The token of the strategy `static_token`. */
  readonly serviceToken: Secret | undefined;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly tokens: TokenCache;
  /** Loads a provider by its name in the strategy table; built-in ones import their library here. */
  readonly provider: (name: string) => Promise<IdentityProvider> | undefined;
  readonly apiKey: Secret | undefined;
  /** Makes the next use of a secret in a file read it again. */
  readonly recheck?: () => void;
  readonly apiKeyHeader: string;
  /** A collision-resistant one-way hash: identifies an API key or a token without revealing it. */
  readonly hash: (text: string) => string;
}

const FAILURES = {
  incomplete: 'The configuration of the service credential is incomplete.',
  refused: 'The service credential was refused or cannot be used.',
};

interface KnownProvider {
  readonly provider: IdentityProvider;
  /** The cache key of the last token; recomputed whenever that token is due for renewal. */
  readonly key: string;
  readonly principal: string;
  /** The last credentials, by API key: header objects are created once per token, not once per request. */
  readonly credentials: WeakMap<object, Credential>;
}

type FixedKind = Exclude<ChosenStrategy['kind'], 'provider' | 'none'>;

/** Obtains the credential of a route, and renews it when the platform rejects it. */
export class CredentialBroker {
  readonly #deps: CredentialBrokerDependencies;
  readonly #known = new Map<string, KnownProvider>();
  readonly #platformClock: PlatformClock;
  /** The choices made so far, by the strategy of the route. */
  readonly #chosen = { withKey: new Map<string, ChosenStrategy>(), withoutKey: new Map<string, ChosenStrategy>() };
  readonly #keyNames = new WeakMap<Secret, string>();
  /** The last token of the strategy `static_token`. */
  #serviceToken: Secret | undefined;
  /** Credentials that no provider issues, by their API key. */
  readonly #fixedCredentials = {
    'api-key': new WeakMap<object, Credential>(),
    'static-token': new WeakMap<object, Credential>(),
    'no-credential': new WeakMap<object, Credential>(),
  };

  constructor(dependencies: CredentialBrokerDependencies) {
    this.#deps = dependencies;
    this.#platformClock = new PlatformClock(dependencies);
  }

  /**
   * The credential for one request, with the site's own fields.
   *
   * @throws ServiceAuthError when no service credential can be obtained.
   * @throws SessionError when the route needs a session and there is none.
   */
  obtain(auth: RouteAuth, request: RequestContext): Promise<Credential> {
    const credential = this.#obtain(auth, request);
    return auth.fields === undefined ? credential : withSiteFields(credential, auth.fields, request, undefined);
  }

  async #obtain(auth: RouteAuth, request: RequestContext): Promise<Credential> {
    switch (auth.kind) {
      case 'service':
        return this.#service(auth);
      case 'session':
        return this.#session(auth, request);
      case 'api-key':
        return this.#fixed('api-key', auth.apiKey ?? this.#deps.apiKey);
      case 'headers':
        return auth.obtain(request);
    }
  }

  /**
   * A fresh credential, with the same site fields, after the platform rejected this one; absent if nothing can be
   * renewed. Callers rejected at the same time share one renewal; a user's token is renewed by its session.
   * `platformDate` is the `Date` field of the rejection: tokens signed here follow the platform's clock.
   */
  async renew(
    auth: RouteAuth,
    refused: Credential,
    request: RequestContext,
    platformDate: string,
  ): Promise<Credential | undefined> {
    this.#deps.recheck?.();
    if (auth.kind === 'headers' || refused.token === undefined) return undefined;
    if (refused.cacheKey === undefined) {
      return auth.kind === 'session' ? this.#refreshed(auth, refused, request) : undefined;
    }
    this.#platformClock.compare(Date.parse(platformDate));
    if (!(await this.#deps.tokens.reject(refused.cacheKey, refused.token))) return undefined;
    for (const { key, provider } of this.#known.values()) if (key === refused.cacheKey) provider.recheck?.();
    const renewed = await this.#obtain(auth, request);
    return renewed.token === refused.token ? undefined : renewed.withFields(refused.fields);
  }

  /**
   * Computes the token key of the configured strategy without requesting a token, so that the first request finds a
   * token cached earlier.
   */
  async recall(): Promise<void> {
    const chosen = this.#choose('', this.#deps.apiKey);
    if (chosen.kind !== 'provider') return;
    // Any error is reported to the request that needs the token.
    await this.#identify(chosen.name).catch(() => undefined);
  }

  /** A strategy's unexpired service token from memory, if there is one; an empty strategy is the configured one. Sends no request. */
  cachedServiceToken(strategy = ''): AccessToken | undefined {
    const chosen = this.#choose(strategy, this.#deps.apiKey);
    const { serviceToken } = this.#deps;
    if (chosen.kind === 'static-token' && serviceToken !== undefined) {
      return { value: serviceToken.reveal(), expiresAt: Infinity };
    }
    const known = chosen.kind === 'provider' ? this.#known.get(chosen.name) : undefined;
    return known === undefined ? undefined : this.#deps.tokens.peek(known.key);
  }

  #service(auth: RouteAuth<'service'>): Credential | Promise<Credential> {
    const apiKey = auth.apiKey ?? this.#deps.apiKey;
    const chosen = this.#choose(auth.strategy, apiKey);
    if (chosen.kind === 'none') throw noStrategy();
    if (chosen.kind !== 'provider') return this.#fixed(chosen.kind, apiKey);
    const known = this.#known.get(chosen.name);
    const token = known && this.#deps.tokens.fresh(known.key);
    if (known && token) return this.#credentialOf(chosen.name, known, token, auth.apiKey);
    return this.#ask(chosen.name, auth.apiKey);
  }

  async #ask(name: string, planKey: Secret | undefined): Promise<Credential> {
    const known = await this.#identify(name);
    const { provider, key } = known;
    const own = { option: 'identityProviders', name: `"issue" of "${name}"`, block: provider.block } as const;
    const issue: IssueToken = async (now) => {
      const outcome = await (provider.signsLocally === true ? this.#sign(provider, now) : provider.issue(now));
      return checkedOutcome(outcome, own, this.#deps.telemetry);
    };
    const outcome = await this.#deps.tokens.get(key, provider, issue);
    if (outcome.kind === 'failure') throw serviceAuthError(outcome, FAILURES);
    return this.#credentialOf(name, known, outcome.token, planKey);
  }

  /** The provider of a strategy and the key of its tokens; the last known values if the provider cannot state its identity. */
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
        hint: 'See the server log for the cause.',
        block: 'configureServer',
        fields: ['serviceAuthStrategy'],
        retryable: true,
        log: error instanceof Error ? `${error.name}: ${error.message}` : typeof error,
      });
    }
  }

  /** Signs by the platform's clock; the expiry is by ours. */
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
    const account = JSON.stringify(['service', name, known.principal]);
    const owner = { ...ownerOf(JSON.stringify(['service', name, known.principal, this.#keyName(apiKey)])), account };
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

  async #session(auth: RouteAuth<'session'>, request: RequestContext): Promise<Credential> {
    const apiKey = auth.apiKey ?? this.#deps.apiKey;
    const user = await userToken(auth, request);
    if (user === undefined) {
      if (!auth.required) return this.#fixed('api-key', apiKey);
      throw new SessionError('session_required', { detail: 'No user is signed in.', hint: 'Sign in and try again.' });
    }
    return this.#userCredential(user, apiKey);
  }

  /** A new session token in place of a rejected one; without a new one, the platform's response is passed on. */
  async #refreshed(
    auth: RouteAuth<'session'>,
    refused: Credential,
    request: RequestContext,
  ): Promise<Credential | undefined> {
    const user = await refreshedToken(auth, request, this.#deps.telemetry);
    if (user === undefined || user.value === refused.token) return undefined;
    const renewed = this.#userCredential(user, auth.apiKey ?? this.#deps.apiKey);
    // The results of the request so far are stored for the user it began with.
    return renewed.owner.principal === refused.owner.principal ? renewed.withFields(refused.fields) : undefined;
  }

  #userCredential(user: UserToken, apiKey: Secret | undefined): Credential {
    return new Credential({
      kind: 'session',
      headers: this.#headers(user.value, apiKey),
      owner: () => this.#userOwner(user, apiKey),
      block: 'session',
      cacheKey: user.cacheKey,
      token: user.value,
      user: user.user,
    });
  }

  #userOwner(user: UserToken, apiKey: Secret | undefined): CredentialOwner {
    const { name, tenant, audience, exchange, sessionToken } = user;
    // Concatenated directly: this runs on every render for a user.
    let facts = delimited(tenant ?? null) + delimited(audience) + delimited(exchange ?? null);
    facts += delimited(this.#keyName(apiKey));
    for (const part of name ?? []) facts += delimited(part);
    const principal = name === undefined ? undefined : `user ${facts}`;
    if (principal !== undefined && tenant !== undefined) return ownerOf(principal);
    // The user may have switched to another organization, which only the token shows.
    return { principal, reader: `token ${this.#deps.hash(sessionToken)} ${facts}` };
  }

  /** The credential of a strategy that obtains none. */
  #fixed(kind: FixedKind, apiKey: Secret | undefined): Credential {
    const { serviceToken } = this.#deps;
    if (serviceToken !== this.#serviceToken) this.#fixedCredentials['static-token'] = new WeakMap();
    this.#serviceToken = serviceToken;
    const made = this.#fixedCredentials[kind];
    let credential = made.get(apiKey ?? this);
    if (credential === undefined) {
      credential = kind === 'api-key' ? this.#apiKeyAlone(apiKey) : this.#withoutProvider(kind, apiKey);
      made.set(apiKey ?? this, credential);
    }
    return credential;
  }

  /** The API key as the only credential; `whole` owns the credential that it is a part of. */
  #apiKeyAlone(apiKey: Secret | undefined, whole?: CredentialOwner): Credential {
    if (apiKey === undefined) {
      const hint = 'Set "serviceApiKey" in configureServer, or "apiKey" in the options of the route.';
      throw notSet('The server has no API key for the platform.', hint, 'serviceApiKey');
    }
    const owner = whole ?? ownerOf(JSON.stringify(['api-key', this.#keyName(apiKey)]));
    const headers = this.#headers(undefined, apiKey);
    return new Credential({ kind: 'api-key', headers, owner: () => owner, block: 'serviceApiKey' });
  }

  /**
   * A configured token, or nothing. Without a token, the API key goes to the platform only, since the agent may be run by
   * another company; renders are stored for the caller, the owner of the whole.
   */
  #withoutProvider(kind: Exclude<FixedKind, 'api-key'>, apiKey: Secret | undefined): Credential {
    const { serviceToken } = this.#deps;
    if (kind === 'static-token' && serviceToken === undefined) {
      const hint = 'Set "serviceToken" in configureServer.';
      throw notSet('The server has no token for the strategy "static_token".', hint, 'serviceToken');
    }
    const token = kind === 'static-token' ? serviceToken : undefined;
    const owner = ownerOf(JSON.stringify([kind, this.#keyName(token), this.#keyName(apiKey)]));
    return new Credential({
      kind: 'service',
      headers: token === undefined ? {} : this.#headers(token.reveal(), apiKey),
      owner: () => owner,
      block: token === undefined ? NO_CREDENTIAL : 'serviceToken',
      forPlatform: token === undefined && apiKey !== undefined ? this.#apiKeyAlone(apiKey, owner) : undefined,
    });
  }

  /**
   * Identifies an API key, since platforms bind tenants to keys. The same in every process. A key cannot be derived
   * from it, since keys are random.
   */
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
    const hasApiKey = apiKey !== undefined;
    const known = this.#chosen[hasApiKey ? 'withKey' : 'withoutKey'];
    let chosen = known.get(strategy);
    if (chosen === undefined) {
      chosen = chooseStrategy({ ...this.#deps, strategy: strategy || this.#deps.strategy, hasApiKey });
      // A misspelt strategy chooses nothing, so only names that exist are kept.
      if (chosen.kind !== 'none') known.set(strategy, chosen);
    }
    return chosen;
  }

  #headers(token: string | undefined, apiKey: Secret | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (apiKey !== undefined) headers[this.#deps.apiKeyHeader] = apiKey.reveal();
    return headers;
  }
}

export async function withSiteFields(
  obtaining: Promise<Credential> | Credential,
  { request: names, response, make }: RouteFields,
  request: RequestContext,
  message: MessageFacts | undefined,
): Promise<Credential> {
  const credential = await obtaining;
  const forwarded = forwardedFields(request.headers, names);
  const added = (await make?.(request, credential.user, message)) ?? {};
  return credential.withFields({ added, forwarded, response });
}

function noStrategy(): ServiceAuthError {
  const hint =
    'Set "serviceAuthStrategy" or "authProvider" in configureServer, or "strategy" in the options, and fill in the configuration block of that strategy; or set "serviceApiKey". For an agent without authentication, the strategy is "none"; for a fixed token, "static_token" with "serviceToken".';
  const fields = ['serviceAuthStrategy', 'authProvider', 'serviceApiKey', 'serviceToken'];
  return notSet('The server has no credential for the platform.', hint, ...fields);
}

/** A larger difference is ignored: a platform that sends a date decades ahead would otherwise get a token valid until then. */
const FOLLOWED_SKEW_MS = 3_600_000;

/** The platform's clock, from the `Date` of its rejections: tokens signed here must be valid by it. */
class PlatformClock {
  readonly #deps: Pick<CredentialBrokerDependencies, 'clock' | 'telemetry'>;
  #skewMs = 0;

  constructor(dependencies: Pick<CredentialBrokerDependencies, 'clock' | 'telemetry'>) {
    this.#deps = dependencies;
  }

  /** The platform's lead over our clock, in milliseconds; 0 if they agree, or if the difference is implausible. */
  get aheadMs(): number {
    return Math.abs(this.#skewMs) > FOLLOWED_SKEW_MS ? 0 : this.#skewMs;
  }

  /** Records its time, in milliseconds since the epoch, and warns operators when the difference has changed; ignores `NaN`. */
  compare(platformNow: number): void {
    const skewMs = platformNow - this.#deps.clock.now();
    if (Number.isNaN(skewMs) || Math.abs(skewMs - this.#skewMs) <= TOLERATED_SKEW_MS) return;
    this.#skewMs = Math.abs(skewMs) <= TOLERATED_SKEW_MS ? 0 : skewMs;
    const difference =
      clockDifference(-this.#skewMs, "the platform's") || "the local clock agrees with the platform's again";
    this.#deps.telemetry.emit({ type: 'warning', code: 'clock_skew', detail: `${difference.replace('t', 'T')}.` });
  }
}

/** The flows of each built-in provider by strategy; the first is the provider's default. */
export type ProviderFlows = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** The inputs for choosing the flow of the service credential. */
export interface StrategyFacts {
  readonly flows: ProviderFlows;
  /** `serviceAuthStrategy`, or the handler's own `strategy`; an empty string if unset. */
  readonly strategy: string;
  /** `authProvider`; an empty string if unset. */
  readonly authProvider: string;
  /** True if any field of the `serviceAccount` block is set. */
  readonly hasServiceAccount: boolean;
  readonly hasApiKey: boolean;
  /** Names of the identity providers that the site registered itself. */
  readonly customProviders: ReadonlySet<string>;
}

/** The name of the provider to use; or the API key alone; or a configured token; or nothing, by choice or for lack of a choice. */
export type ChosenStrategy =
  | { readonly kind: 'provider'; readonly name: string }
  | { readonly kind: 'api-key' | 'static-token' | 'no-credential' | 'none' };

/** The strategies that need no provider. */
const WITHOUT_PROVIDER: Readonly<Record<string, 'static-token' | 'no-credential'>> = {
  static_token: 'static-token',
  none: 'no-credential',
};

/** Chooses the flow for a configuration: that of the chosen provider, otherwise that of the provider whose default strategy it is. */
export function chooseStrategy(facts: StrategyFacts): ChosenStrategy {
  const { strategy, flows } = facts;
  if (facts.customProviders.has(strategy)) return { kind: 'provider', name: strategy };
  const fixed = Object.hasOwn(WITHOUT_PROVIDER, strategy) ? WITHOUT_PROVIDER[strategy] : undefined;
  if (fixed !== undefined) return { kind: fixed };
  if (facts.customProviders.has(facts.authProvider) && strategy !== 'service_account')
    return { kind: 'provider', name: facts.authProvider };
  const chosen = Object.hasOwn(flows, facts.authProvider) ? flows[facts.authProvider] : undefined;
  if (strategy !== '') {
    const own = Object.values(flows).find((one) => Object.keys(one)[0] === strategy);
    const flow = chosen !== undefined && Object.hasOwn(chosen, strategy) ? chosen[strategy] : own?.[strategy];
    return flow === undefined ? { kind: 'none' } : { kind: 'provider', name: flow };
  }
  const [first] = Object.values(chosen ?? {});
  if (first !== undefined) return { kind: 'provider', name: first };
  if (facts.hasServiceAccount) return { kind: 'provider', name: 'service_account' };
  return facts.hasApiKey ? { kind: 'api-key' } : { kind: 'none' };
}
