import { jwtClaims } from '../../domain/shared/json.js';
import type { AccessToken } from '../../ports/identity-provider.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { providerOf, PROVIDERS } from '../toolkit/identity-providers.js';
import { clockProblem, clocks, failed, type Finding, passed, skipped, warning } from './finding.js';

const SHORT_LIFE_SECONDS = 60;

/** The claims of a JWT that the doctor compares with the configuration. */
interface TokenClaims {
  readonly audience: readonly string[];
  /** Scopes and roles together. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; absent when the token does not say. */
  readonly expiresAt: number | undefined;
  readonly issuedAt: number | undefined;
}

/** Compares a token with what is configured; `flow` is the chosen one, `now` milliseconds since the epoch. */
export function tokenFindings(
  config: ResolvedConfig,
  flow: string,
  { value, expiresAt }: AccessToken,
  now: number,
): readonly Finding[] {
  const provider = providerOf(flow);
  const { block, expected } = provider === undefined ? { block: flow, expected: undefined } : PROVIDERS[provider];
  const claims = tokenClaims(value);
  if (claims === undefined) {
    return [expiry(expiresAt, now, block), skipped('claims', 'the token is opaque, so only the platform can read it')];
  }
  const { audience, scopes, expiresAt: until = expiresAt, issuedAt = now } = claims;
  const wanted = expected?.(config) ?? { audience: { field: '', anyOf: [] }, scopes: [] };
  const anyOf = wanted.audience.anyOf.filter((one) => one !== '');
  const missing = wanted.scopes.filter((one) => !scopes.includes(one));
  const isMeant = anyOf.length === 0 || anyOf.some((one) => audience.includes(one));
  return [
    expiry(until, now, block),
    isMeant
      ? passed('audience', listed(audience))
      : failed('audience', `the token is for ${listed(audience)}`, { block, fields: [wanted.audience.field] }),
    missing.length === 0
      ? passed('scope', listed(scopes))
      : failed('scope', `not granted: ${missing.join(' ')}`, { block, fields: ['scope'] }, granting(block)),
    clocks('clock', now - issuedAt, "the provider's"),
  ];
}

function granting(block: string): string {
  return `Grant the application these scopes at the provider, or leave them out of "scope" in the "${block}" configuration block.`;
}

function listed(values: readonly string[]): string {
  return values.length === 0 ? 'none in the token' : values.join(' ');
}

function expiry(at: number, now: number, block: string): Finding {
  const check = 'expiry';
  const seconds = Math.round((at - now) / 1_000);
  if (seconds <= 0) return clockProblem(check, `the token ended ${String(-seconds)} s ago, by the local clock`);
  const message = `in ${String(seconds)} s`;
  if (seconds >= SHORT_LIFE_SECONDS) return passed(check, message);
  const fix = `Give the access tokens of the "${block}" configuration block a longer life at the provider.`;
  return warning(check, message, { block, fields: [] }, fix);
}

/** Reads a token without checking its signature; `undefined` when it is no JWT. */
function tokenClaims(token: string): TokenClaims | undefined {
  const claims = jwtClaims(token);
  if (claims === undefined) return undefined;
  const { aud, scope, scp, roles, exp, iat } = claims;
  return {
    audience: texts(aud),
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
