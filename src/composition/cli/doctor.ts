import { silentTelemetry } from '../../adapters/telemetry/silent-telemetry.js';
import { systemClock } from '../../adapters/system/system-clock.js';
import { chooseStrategy } from '../../domain/credentials/strategy.js';
import { isAgentBffError } from '../../domain/errors.js';
import type { IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import type { ServerConfig } from '../config.js';
import { providerLoader } from '../identity-module.js';
import type { ToolkitPorts } from '../ports.js';
import { type ResolvedConfig, resolveConfig } from '../resolve-config.js';
import type { Finding } from './finding.js';
import { tokenClaims } from './token-claims.js';

/** Tries the credentials of a configuration for real: reads keys, asks the provider, and compares the token with what is configured. */
export async function examine(config: ServerConfig, ports: ToolkitPorts = {}): Promise<readonly Finding[]> {
  let resolved: ResolvedConfig;
  try {
    resolved = resolveConfig(config, new Set(Object.keys(ports.identityProviders ?? {})));
  } catch (error) {
    if (!isAgentBffError(error)) throw error;
    return [
      {
        check: 'configuration',
        result: 'failed',
        says: error.message,
        ...(error.block === undefined ? {} : { block: error.block }),
        fields: error.fields,
      },
    ];
  }
  const findings: Finding[] = [{ check: 'configuration', result: 'ok', says: 'every field is known and well formed' }];
  findings.push(address('agent address', 'a2aUrl', resolved.agent));
  findings.push(address('platform address', 'serviceApiUrl', resolved.serviceApi));
  const chosen = chooseStrategy({
    strategy: resolved.serviceAuthStrategy,
    authProvider: resolved.authProvider,
    hasServiceAccount: resolved.serviceAccount.filled,
    hasApiKey: resolved.serviceApiKey !== undefined,
    customProviders: resolved.customProviders,
  });
  if (chosen.kind === 'none') {
    findings.push({
      check: 'strategy',
      result: 'failed',
      says: 'no credential is configured',
      block: 'serviceAuthStrategy',
      fields: ['serviceAuthStrategy'],
    });
    return findings;
  }
  if (chosen.kind === 'api-key') {
    findings.push({ check: 'strategy', result: 'ok', says: 'the API key alone; there is no token to try' });
    return findings;
  }
  findings.push({ check: 'strategy', result: 'ok', says: chosen.name });
  const load = providerLoader(
    resolved,
    {
      custom: ports.identityProviders ?? {},
      fetch: ports.identityFetch,
      fingerprintKey: new Uint8Array(32),
      telemetry: ports.telemetry ?? silentTelemetry,
    },
    ports.clock ?? systemClock,
  );
  findings.push(...(await tryProvider(resolved, chosen.name, await load(chosen.name), ports)));
  return findings;
}

function address(check: string, field: string, found: { origin: string } | undefined): Finding {
  if (found !== undefined) return { check, result: 'ok', says: found.origin };
  return { check, result: 'failed', says: 'is not set', block: 'configureServer', fields: [field] };
}

async function tryProvider(
  config: ResolvedConfig,
  name: string,
  provider: IdentityProvider | undefined,
  ports: ToolkitPorts,
): Promise<Finding[]> {
  if (provider === undefined) {
    return [
      {
        check: 'token',
        result: 'failed',
        says: 'this strategy has no identity provider',
        fields: ['serviceAuthStrategy'],
      },
    ];
  }
  const now = (ports.clock ?? systemClock).now();
  const outcome: IssueOutcome = await provider.issue(now);
  if (outcome.kind === 'failure') {
    const { block, fields, advice, detail } = outcome;
    return [{ check: 'token', result: 'failed', says: `${advice} (${detail})`, block, fields }];
  }
  const { value, expiresAt } = outcome.token;
  const seconds = Math.round((expiresAt - now) / 1000);
  const findings: Finding[] = [{ check: 'token', result: 'ok', says: `obtained; good for ${String(seconds)} s` }];
  const claims = tokenClaims(value);
  if (claims === undefined) {
    findings.push({
      check: 'claims',
      result: 'skipped',
      says: 'the token is opaque, so only the platform can read it',
    });
    return findings;
  }
  findings.push(audience(config, name, claims.audience));
  findings.push({
    check: 'scope',
    result: 'ok',
    says: claims.scopes.length === 0 ? 'none in the token' : claims.scopes.join(' '),
  });
  if (claims.issuedAt !== undefined && Math.abs(claims.issuedAt - now) > 30_000) {
    const ahead = Math.round((now - claims.issuedAt) / 1000);
    findings.push({
      check: 'clock',
      result: 'warning',
      says: `the local clock differs from the provider's by ${String(ahead)} s`,
    });
  } else {
    findings.push({ check: 'clock', result: 'ok', says: "agrees with the provider's" });
  }
  return findings;
}

/** Whether the token is meant for the API it will be sent to, as far as the configuration says. */
function audience(config: ResolvedConfig, name: string, found: readonly string[]): Finding {
  const check = 'audience';
  const says = found.length === 0 ? 'none in the token' : found.join(' ');
  const [block, field, wanted] = name.startsWith('idp_a')
    ? (['idpA', 'audience', [config.idpA.audience]] as const)
    : name.startsWith('idp_b')
      ? (['idpBService', 'scope', audiencesOfScope(config.idpB.scope)] as const)
      : (['serviceAccount', 'audience', [config.serviceAccount.audience].flat()] as const);
  const named = wanted.filter((item) => item !== '' && item !== false);
  if (named.length === 0 || named.some((item) => found.includes(String(item)))) return { check, result: 'ok', says };
  return { check, result: 'failed', says: `the token is for ${says}`, block, fields: [field] };
}

/** `api://app/.default` is answered with either form of the application's name as audience. */
function audiencesOfScope(scope: string): string[] {
  const resource = scope.split(' ', 1)[0]?.replace(/\/[^/]+$/, '') ?? '';
  return [resource, resource.replace(/^api:\/\//, '')];
}
