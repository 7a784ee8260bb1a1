import { sessionKind, type SessionTokenLike } from '../adapters/sessions/session-like.js';
import type { SessionRequired } from '../domain/conversations/conversation-proxy.js';
import type { RoutePlan } from '../domain/credentials/headers-plan.js';
import { ConfigurationError } from '../domain/errors.js';
import type { RenderCacheSettings } from '../domain/surfaces/render-cache.js';
import type { ServiceAuthStrategy } from './config.js';
import { headerSecret } from './header-secret.js';
import { type RenderCacheOptions, renderCacheSettings } from './render-cache-options.js';
import type { SessionPlans } from './session-plans.js';
import { checkStrategy } from './strategy-names.js';

/**
 * Options of `createSurfaceHandler` (spec §4.2).
 *
 * @public
 */
export interface SurfaceHandlerOptions {
  /** Gives the signed-in user's token. Default: the API key alone. */
  readonly auth?: SessionTokenLike | undefined;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Refuses visitors who are not signed in. Default false: they get the API key alone. */
  readonly requireSession?: boolean | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
}

/**
 * Options of `createSurfaceHandlerWithServiceAuth` (spec §4.2).
 *
 * @public
 */
export interface ServiceSurfaceHandlerOptions {
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** How renders are kept. Default: not at all. */
  readonly cache?: RenderCacheOptions | undefined;
  /** Service strategy of this route. Default: the configured one. */
  readonly strategy?: ServiceAuthStrategy | (string & {}) | undefined;
}

/**
 * Options of `createServiceProxyHandler` and `createServiceProxyRouter` (spec §4.2).
 *
 * @public
 */
export interface ServiceProxyOptions {
  /** Gives the signed-in user's token; without one, nothing is passed on. */
  readonly auth: SessionTokenLike;
  /** Audience of the user's token. Default: whatever the session holds. */
  readonly audience?: string | undefined;
  /** API key of this route. Default: the configured `serviceApiKey`. */
  readonly apiKey?: string | undefined;
  /** Exchanges the user's token even when `onBehalfOf` is not configured. Default: only with that block. */
  readonly exchange?: 'on_behalf_of' | undefined;
}

/** A surface route's options, complete. */
export interface SurfacePlan {
  readonly plan: RoutePlan;
  /** Absent when renders are not kept. */
  readonly cache: RenderCacheSettings | undefined;
}

/** Completes the options of a surface handler. */
export function surfaceHandlerPlan(
  options: SurfaceHandlerOptions,
  sessions: SessionPlans,
  maker = 'createSurfaceHandler',
): SurfacePlan {
  const { auth, audience = '', requireSession = false, exchange } = options;
  const cache = renderCacheSettings(options.cache, maker);
  const apiKey = headerSecret('apiKey', options.apiKey);
  if (auth === undefined) {
    if (!requireSession && exchange === undefined) return { cache, plan: { kind: 'api-key', apiKey } };
    throw wrong(maker, 'auth', "what gives the signed-in user's token: another option asks for it");
  }
  checkSource(auth, maker);
  const session = sessions.planFor(auth, audience, exchange === 'on_behalf_of');
  return { cache, plan: { kind: 'session', required: requireSession, apiKey, ...session } };
}

/** Completes the options of a surface handler with a service credential. */
export function serviceSurfaceHandlerPlan(
  options: ServiceSurfaceHandlerOptions,
  customProviders: ReadonlySet<string>,
): SurfacePlan {
  const { strategy = '' } = options;
  checkStrategy(strategy, customProviders);
  const cache = renderCacheSettings(options.cache, 'createSurfaceHandlerWithServiceAuth');
  return { cache, plan: { kind: 'service', strategy, apiKey: headerSecret('apiKey', options.apiKey) } };
}

/** Completes the options of the conversation proxy, which has no way to do without a session. */
export function serviceProxyPlan(options: ServiceProxyOptions, sessions: SessionPlans): SessionRequired {
  const { auth, audience = '', exchange } = options;
  checkSource(auth, 'createServiceProxyHandler');
  const session = sessions.planFor(auth, audience, exchange === 'on_behalf_of');
  return { kind: 'session', required: true, apiKey: headerSecret('apiKey', options.apiKey), ...session };
}

/** @throws ConfigurationError when the options of a conversation proxy name no session source. */
export function checkProxyOptions({ auth, apiKey }: ServiceProxyOptions): void {
  checkSource(auth, 'createServiceProxyRouter');
  headerSecret('apiKey', apiKey);
}

/** @throws ConfigurationError when `auth` is nothing a session can be read with. */
export function checkSource(auth: SessionTokenLike, maker: string): void {
  try {
    sessionKind(auth);
  } catch (error) {
    const expected = error instanceof Error ? error.message : 'see its documentation';
    throw wrong(maker, 'auth', `a session source of this package: ${expected}`);
  }
}

/** A refusal that names the option and what belongs there. */
export function wrong(maker: string, field: string, expected: string): ConfigurationError {
  return new ConfigurationError({
    detail: `"${field}" of ${maker} has a value of a wrong kind.`,
    hint: `Set it to ${expected}.`,
    block: maker,
    fields: [field],
  });
}
