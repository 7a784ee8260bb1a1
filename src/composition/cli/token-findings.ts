import { requestedScope } from '../../adapters/idp-a/requested-scope.js';
import { jwtClaims } from '../../domain/shared/json.js';
import type { AccessToken } from '../../ports/identity-provider.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { Finding } from './finding.js';

const TOLERATED_SKEW_MS = 30_000;
const SHORT_LIFE_SECONDS = 60;

/** The claims of a JWT that the doctor compares with the configuration. */
interface TokenClaims {
  readonly audience: readonly string[];
  readonly issuer: string;
  /** Scopes and roles together. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; absent when the token does not say. */
  readonly expiresAt: number | undefined;
  readonly issuedAt: number | undefined;
}

/** Compares a token with what is configured; `name` is the chosen strategy's, `now` milliseconds since the epoch. */
export function tokenFindings(
  config: ResolvedConfig,
  name: string,
  { value, expiresAt }: AccessToken,
  now: number,
): readonly Finding[] {
  const claims = tokenClaims(value);
  if (claims === undefined) {
    const message = 'the token is opaque, so only the platform can read it';
    return [expiry(expiresAt, now), { check: 'claims', result: 'skipped', message }];
  }
  return [
    expiry(claims.expiresAt ?? expiresAt, now),
    audience(config, name, claims.audience),
    scope(config, name, claims.scopes),
    clock(claims, now),
  ];
}

function expiry(at: number, now: number): Finding {
  const check = 'expiry';
  const seconds = Math.round((at - now) / 1_000);
  if (seconds <= 0)
    return { check, result: 'failed', message: `the token ended ${String(-seconds)} s ago, by the local clock` };
  const message = `in ${String(seconds)} s`;
  return { check, result: seconds < SHORT_LIFE_SECONDS ? 'warning' : 'ok', message };
}

/** Whether the token is meant for the API it will be sent to, as far as the configuration says. */
function audience(config: ResolvedConfig, name: string, found: readonly string[]): Finding {
  const check = 'audience';
  const message = found.length === 0 ? 'none in the token' : found.join(' ');
  const [block, field, wanted] = name.startsWith('idp_a.')
    ? (['idpA', 'audience', [config.idpA.audience]] as const)
    : name.startsWith('idp_b.')
      ? (['idpBService', 'scope', audiencesOfScope(config.idpB.scope)] as const)
      : (['serviceAccount', 'audience', [config.serviceAccount.audience].flat()] as const);
  const named = config.customProviders.has(name) ? [] : wanted.filter((item) => item !== '' && item !== false);
  if (named.length === 0 || named.some((item) => found.includes(String(item)))) return { check, result: 'ok', message };
  return { check, result: 'failed', message: `the token is for ${message}`, block, fields: [field] };
}

/** `api://app/.default` is answered with either form of the application's name as audience. */
function audiencesOfScope(text: string): string[] {
  const resource =
    text
      .trim()
      .split(/\s+/, 1)[0]
      ?.replace(/\/[^/]+$/, '') ?? '';
  return [resource, resource.replace(/^api:\/\//, '')];
}

/** Whether every scope that was asked for was granted; `/.default` asks for whatever there is. */
function scope(config: ResolvedConfig, name: string, found: readonly string[]): Finding {
  const check = 'scope';
  const message = found.length === 0 ? 'none in the token' : found.join(' ');
  const wanted = name.startsWith('idp_a.') ? requestedScope(config.idpA.scope).split(' ') : [];
  const missing = wanted.filter((one) => one !== '' && !found.includes(one));
  if (missing.length === 0) return { check, result: 'ok', message };
  return { check, result: 'failed', message: `not granted: ${missing.join(' ')}`, block: 'idpA', fields: ['scope'] };
}

function clock({ issuedAt }: TokenClaims, now: number): Finding {
  const check = 'clock';
  const aheadMs = issuedAt === undefined ? 0 : now - issuedAt;
  if (Math.abs(aheadMs) <= TOLERATED_SKEW_MS) return { check, result: 'ok', message: "agrees with the provider's" };
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const message = `the local clock is ${String(seconds)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the provider's`;
  return { check, result: 'warning', message };
}

/** Reads a token without checking its signature; `undefined` when it is no JWT. */
function tokenClaims(token: string): TokenClaims | undefined {
  const claims = jwtClaims(token);
  if (claims === undefined) return undefined;
  const { aud, iss, scope, scp, roles, exp, iat } = claims;
  return {
    audience: texts(aud),
    issuer: typeof iss === 'string' ? iss : '',
    scopes: [...words(scope), ...words(scp), ...texts(roles)],
    expiresAt: typeof exp === 'number' ? exp * 1000 : undefined,
    issuedAt: typeof iat === 'number' ? iat * 1000 : undefined,
  };
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');
}

function words(value: unknown): string[] {
  return typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : texts(value);
}
