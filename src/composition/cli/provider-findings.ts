import { thrownFault } from '../../adapters/oauth/provider-error.js';
import { jwtClaims } from '../../domain/shared/json.js';
import type {
  ExpectedClaims,
  KeyFact,
  ProviderAddress,
  ProviderContext,
  ProviderFacts,
} from '../../domain/shared/provider-descriptor.js';
import type { AccessToken } from '../../ports/identity-provider.js';
import {
  clockProblem,
  clocks,
  failed,
  type Finding,
  named,
  networkFix,
  passed,
  type Suspect,
  skipped,
  warning,
  withMeaning,
} from './finding.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
const SHORT_LIFE_SECONDS = 60;

/** Findings about keys, certificates and the address of a provider. */
export async function providerFindings({ keys, address }: ProviderFacts, context: ProviderContext): Promise<Finding[]> {
  const findings = keys.flatMap((key) => keyFindings(key, context.clock.now()));
  return address === undefined ? findings : [...findings, await reach(address, context)];
}

function keyFindings(fact: KeyFact, now: number): readonly Finding[] {
  const { check, isUsable, detail, advice, validity } = fact;
  const usable = advice === undefined ? passed(check, detail) : warning(check, detail, fact, advice);
  const finding = isUsable ? usable : failed(check, detail, fact, advice);
  return validity === undefined ? [finding] : [finding, dates(validity, now, fact)];
}

function dates({ notBefore, notAfter }: NonNullable<KeyFact['validity']>, now: number, suspect: Suspect): Finding {
  const check = 'certificate dates';
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const renew = `Register a new certificate, and set ${named(suspect)} to it.`;
  if (now < notBefore) {
    const fix = `Set the clock of this machine, or wait, or use another certificate in ${named(suspect)}.`;
    return failed(check, `it is not valid yet: it starts on ${day(notBefore)}`, suspect, fix);
  }
  if (now > notAfter) return failed(check, `it has expired: it ended on ${day(notAfter)}`, suspect, renew);
  const days = Math.floor((notAfter - now) / DAY_MS);
  if (days >= SOON_DAYS) return passed(check, `valid until ${day(notAfter)}`);
  return warning(check, `valid until ${day(notAfter)}, ${String(days)} days from now`, suspect, renew);
}

/** The suspect of a fault if no setting names the host. */
const NETWORK = { block: 'machine', fields: ['network'] };

/** Requests the public metadata of a provider, without a credential. */
async function reach(
  { setting: { block, field }, host, url, fault }: ProviderAddress,
  { fetch = globalThis.fetch, timeoutMs }: ProviderContext,
): Promise<Finding> {
  const check = 'provider';
  const suspect = { block, fields: [field] };
  if (fault !== undefined) return failed(check, fault, suspect, `Correct ${named(suspect)}.`);
  // The token or exchange check reports it together with all other missing fields.
  if (url === undefined) return skipped(check, `${field} is not set`);
  const { origin } = new URL(url);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { redirect: 'manual', signal });
    await response.body?.cancel();
    if (response.status === 200) return passed(check, `${origin} responds`);
    const message = `${url} responds ${String(response.status)}`;
    if (response.status < 500 && ![401, 403].includes(response.status))
      return failed(check, `${message}, so there is no provider of this name`, suspect, `Correct ${named(suspect)}.`);
    const fix = `Look at ${origin}, and at a firewall or proxy in front of it; or correct ${named(suspect)}.`;
    return failed(check, message, suspect, fix);
  } catch (error) {
    const code = thrownFault(error, 'metadata').code || String((error as Error).name);
    const there = host === undefined ? NETWORK : { block: host.block, fields: [host.field] };
    const fix =
      host === undefined ? `Allow this machine to reach ${origin} over the network.` : networkFix(code, there);
    return failed(check, `${origin} cannot be reached: ${withMeaning(code) ?? code}`, there, fix);
  }
}

/** Compares a token with the settings of `block`; `now` is milliseconds since the epoch. */
export function tokenFindings(
  block: string,
  expected: ExpectedClaims | undefined,
  { value, expiresAt }: AccessToken,
  now: number,
): readonly Finding[] {
  // The platform verifies the signature.
  const claims = jwtClaims(value);
  if (claims === undefined) {
    return [expiry(expiresAt, now, block), skipped('claims', 'the token is opaque, so only the platform can read it')];
  }
  const { aud, scope, scp, roles, exp, iat } = claims;
  const issuedAt = typeof iat === 'number' ? iat * 1000 : now;
  return [
    expiry(typeof exp === 'number' ? exp * 1000 : expiresAt, now, block),
    audienceFinding(texts(aud), expected),
    // Scopes and roles together.
    scopeFinding([...words(scope), ...words(scp), ...texts(roles)], expected, block),
    clocks('clock', now - issuedAt, "the provider's"),
  ];
}

function audienceFinding(audience: readonly string[], expected: ExpectedClaims | undefined): Finding {
  const anyOf = (expected?.audience ?? []).filter((one) => one !== '');
  if (expected === undefined || anyOf.length === 0 || anyOf.some((one) => audience.includes(one))) {
    return passed('audience', listed(audience));
  }
  const { block, field } = expected.setting;
  return failed('audience', `the token is for ${listed(audience)}`, { block, fields: [field] });
}

function scopeFinding(scopes: readonly string[], expected: ExpectedClaims | undefined, block: string): Finding {
  const missing = (expected?.scopes ?? []).filter((one) => !scopes.includes(one));
  if (missing.length === 0) return passed('scope', listed(scopes));
  const fix = `Grant the application these scopes at the provider, or leave them out of "scope" in the "${block}" configuration block.`;
  return failed('scope', `not granted: ${missing.join(' ')}`, { block, fields: ['scope'] }, fix);
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
  const fix = `Increase the lifetime of access tokens for the "${block}" configuration block at the provider.`;
  return warning(check, message, { block, fields: [] }, fix);
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');
}

function words(value: unknown): string[] {
  return typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : texts(value);
}
