import type { Clock } from '../../ports/clock.js';
import type { RequestContext } from '../../ports/http.js';
import type { AccessToken, IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import { delimited } from '../shared/json.js';
import type { Secret } from '../shared/secret.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { ServiceAuthError, SessionError } from '../shared/errors.js';
import { forwardedFields } from '../upstream/header-policy.js';
import { Credential, type CredentialOwner, serviceAuthError, statedIdentity } from './credential.js';
import type { RouteAuth, RouteFields } from './route-auth.js';
import { refreshedToken, userToken, type UserToken } from './session-credentials.js';
import type { IssueToken, TokenCache } from './token-cache.js';

/** The parts of the broker, fixed until the configuration changes. */
export interface CredentialBrokerDependencies extends Omit<StrategyFacts, 'hasApiKey'> {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly tokens: TokenCache;
  /** Loads a provider by the name the strategy table gives; built-in ones import their library here. */
  readonly provider: (name: string) => Promise<IdentityProvider> | undefined;
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
   * The credential for one request, with the site's own fields.
   *
   * @throws ServiceAuthError when no service credential can be produced.
   * @throws SessionError when the route needs a session and there is none.
   */
  obtain(auth: RouteAuth, request: RequestContext): Promise<Credential> {
    const credential = this.#obtain(auth, request);
    return auth.fields === undefined ? credential : withSiteFields(credential, auth.fields, request);
  }

  async #obtain(auth: RouteAuth, request: RequestContext): Promise<Credential> {
    switch (auth.kind) {
      case 'service':
        return this.#service(auth);
      case 'session':
        return this.#session(auth, request);
      case 'api-key':
        return this.#apiKeyAlone(auth.apiKey ?? this.#deps.apiKey);
      case 'headers':
        return auth.obtain(request);
    }
  }

  /**
   * A fresh credential, with the same fields of the site, after the platform refused this one; absent when there is nothing to renew.
   * Many callers refused together cause one renewal; a user's own token is renewed by its session. `platformDate` is the `Date` field of the refusal: tokens signed here follow the platform's clock.
   */
  async renew(
    auth: RouteAuth,
    refused: Credential,
    request: RequestContext,
    platformDate: string,
  ): Promise<Credential | undefined> {
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

  /** Names the tokens of the configured strategy without asking for one, so that the first request finds a token kept from before. */
  async recall(): Promise<void> {
    const chosen = this.#choose('', this.#deps.apiKey);
    if (chosen.kind !== 'provider') return;
    // Whatever is wrong is reported to the request that needs the token.
    await this.#identify(chosen.name).catch(() => undefined);
  }

  /** The service token of a strategy in memory, when there is one that has not expired; an empty one is the configured. Sends no request. */
  cachedServiceToken(strategy = ''): AccessToken | undefined {
    const chosen = this.#choose(strategy, this.#deps.apiKey);
    const known = chosen.kind === 'provider' ? this.#known.get(chosen.name) : undefined;
    return known === undefined ? undefined : this.#deps.tokens.peek(known.key);
  }

  async #service(auth: RouteAuth<'service'>): Promise<Credential> {
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

  /** The provider of a strategy and the key of its tokens; the last known ones when the provider cannot state its identity. */
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

  async #session(auth: RouteAuth<'session'>, request: RequestContext): Promise<Credential> {
    const apiKey = auth.apiKey ?? this.#deps.apiKey;
    const user = await userToken(auth, request);
    if (user === undefined) {
      if (!auth.required) return this.#apiKeyAlone(apiKey);
      throw new SessionError('session_required', { detail: 'Nobody is signed in.', hint: 'Sign in and try again.' });
    }
    return this.#userCredential(user, apiKey);
  }

  /** The session's token in place of a refused one; without another one, the platform's response stands. */
  async #refreshed(
    auth: RouteAuth<'session'>,
    refused: Credential,
    request: RequestContext,
  ): Promise<Credential | undefined> {
    const user = await refreshedToken(auth, request, this.#deps.telemetry);
    if (user === undefined || user.value === refused.token) return undefined;
    const renewed = this.#userCredential(user, auth.apiKey ?? this.#deps.apiKey);
    // What came of the request so far is kept under the name of the user it began with.
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
    const hasApiKey = apiKey !== undefined;
    return chooseStrategy({ ...this.#deps, strategy: strategy || this.#deps.strategy, hasApiKey });
  }

  #headers(token: string | undefined, apiKey: Secret | undefined): Record<string, string> {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (apiKey !== undefined) headers[this.#deps.apiKeyHeader] = apiKey.reveal();
    return headers;
  }
}

async function withSiteFields(
  obtaining: Promise<Credential>,
  { request: names, response, make }: RouteFields,
  request: RequestContext,
): Promise<Credential> {
  const credential = await obtaining;
  const forwarded = forwardedFields(request.headers, names);
  return credential.withFields({ added: (await make?.(request)) ?? {}, forwarded, response });
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

/** A `Date` field counts whole seconds and travels; below this the clocks agree. */
const TOLERATED_SKEW_MS = 30_000;
/** A platform further away is not followed: one that names a date decades ahead would be given a token good until then. */
const FOLLOWED_SKEW_MS = 3_600_000;

/** The platform's clock, by the dates of its refusals: tokens signed here must be valid by it. */
class PlatformClock {
  readonly #deps: Pick<CredentialBrokerDependencies, 'clock' | 'telemetry'>;
  #skewMs = 0;

  constructor(dependencies: Pick<CredentialBrokerDependencies, 'clock' | 'telemetry'>) {
    this.#deps = dependencies;
  }

  /** Its lead over ours, in milliseconds; 0 while the two agree, and when it is too far away to be believed. */
  get aheadMs(): number {
    return Math.abs(this.#skewMs) > FOLLOWED_SKEW_MS ? 0 : this.#skewMs;
  }

  /** Takes its time, in milliseconds since the epoch, and warns operators when the difference has changed; ignores `NaN`. */
  compare(platformNow: number): void {
    const skewMs = platformNow - this.#deps.clock.now();
    if (Number.isNaN(skewMs) || Math.abs(skewMs - this.#skewMs) <= TOLERATED_SKEW_MS) return;
    this.#skewMs = Math.abs(skewMs) <= TOLERATED_SKEW_MS ? 0 : skewMs;
    this.#deps.telemetry.emit({ type: 'warning', code: 'clock_skew', detail: detailOf(this.#skewMs) });
  }
}

function detailOf(skewMs: number): string {
  if (skewMs === 0) return "The local clock agrees with the platform's again.";
  const seconds = String(Math.round(Math.abs(skewMs) / 1000));
  return `The local clock is ${seconds} s ${skewMs < 0 ? 'ahead of' : 'behind'} the platform's.`;
}

/** The flows of each built-in provider, by the strategy that asks for them; the first is the provider's own. */
export type ProviderFlows = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** The facts that decide which flow gives the service credential. */
export interface StrategyFacts {
  readonly flows: ProviderFlows;
  /** `serviceAuthStrategy`, or the handler's own `strategy`; an empty string when unset. */
  readonly strategy: string;
  /** `authProvider`; an empty string when unset. */
  readonly authProvider: string;
  /** True if any field of the `serviceAccount` block is filled. */
  readonly hasServiceAccount: boolean;
  readonly hasApiKey: boolean;
  /** Names under which the site registered identity providers of its own. */
  readonly customProviders: ReadonlySet<string>;
}

/** The provider to ask, by name; or the API key alone; or neither. */
export type ChosenStrategy =
  { readonly kind: 'provider'; readonly name: string } | { readonly kind: 'api-key' } | { readonly kind: 'none' };

/** The flow for a configuration: the chosen provider's, else that of the provider whose own strategy it is. */
export function chooseStrategy(facts: StrategyFacts): ChosenStrategy {
  const { strategy, flows } = facts;
  if (facts.customProviders.has(strategy)) return { kind: 'provider', name: strategy };
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
