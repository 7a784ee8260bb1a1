import { silentTelemetry } from '../../adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../adapters/system/system-clock.js';
import { type ChosenStrategy, chooseStrategy } from '../../domain/credentials/strategy.js';
import { isAgentBffError } from '../../domain/errors.js';
import type { Clock } from '../../ports/clock.js';
import type { IssueOutcome } from '../../ports/identity-provider.js';
import type { ServerConfig } from '../config/server-config.js';
import { warningsOf } from '../config/env.js';
import { FLOWS } from '../config/provider-flows.js';
import { providerLoader } from '../toolkit/identity-module.js';
import { type Identities, providerOf, PROVIDERS } from '../toolkit/identity-providers.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import { cacheFindings } from './cache-findings.js';
import type { Finding } from './finding.js';
import { certificate, serviceAccountKey } from './key-findings.js';
import { type Place, platformFindings, type Trials } from './platform-findings.js';
import { providerReach } from './discovery-check.js';
import { tokenFindings } from './token-findings.js';

/**
 * Tries a configuration for real: reads keys and certificates, looks for the providers, asks for a token,
 * compares it with what is configured, and visits the site. `begin` is told what is looked at. What rests on something that failed is not tried, so that one fault is one line.
 * `isProduction`: also says what a site misses that visitors from elsewhere reach.
 */
export async function examine(
  config: ServerConfig,
  ports: ToolkitPorts = {},
  trials: Trials = { surface: '', message: '' },
  begin: (check: string) => void = () => undefined,
  isProduction = false,
): Promise<readonly Finding[]> {
  let resolved: ResolvedConfig;
  try {
    resolved = resolveConfig(config, ports);
  } catch (error) {
    return [...environment(config), refusedConfiguration(error)];
  }
  const chosen = chooseStrategy({
    flows: FLOWS,
    strategy: resolved.serviceAuthStrategy,
    authProvider: resolved.authProvider,
    hasServiceAccount: resolved.serviceAccount.filled,
    hasApiKey: resolved.serviceApiKey !== undefined,
    customProviders: resolved.customProviders,
  });
  const clock = ports.clock ?? systemClock;
  begin('credential');
  const credential = [
    // The chat does without; tokens signed here take their audience from it.
    address('platform address', 'serviceApiUrl', resolved.serviceApi, needsAudience(chosen, resolved)),
    strategy(chosen, resolved),
    ...(chosen.kind === 'provider' ? await serviceCredential(resolved, chosen.name, ports) : []),
    ...(resolved.onBehalfOf.configured ? await userExchange(resolved, chosen, ports) : []),
  ];
  begin('cache store');
  const cache = await cacheFindings(resolved, clock);
  return [
    { check: 'configuration', result: 'ok', message: 'every field is known and well formed' },
    ...environment(config),
    address('agent address', 'a2aUrl', resolved.agent, true),
    ...publicAddress(resolved, isProduction),
    ...credential,
    ...cache,
    ...(await visit()),
  ];

  /** What visitors would see, where there is a credential to try it with. */
  async function visit(): Promise<readonly Finding[]> {
    const check = 'platform';
    if (credential.some(({ result }) => result === 'failed')) {
      return [{ check, result: 'skipped', message: 'skipped: fix the above first' }];
    }
    if (chosen.kind === 'none') return [{ check, result: 'skipped', message: 'needs a signed-in user' }];
    return platformFindings(config, resolved, ports, placeOf(chosen), trials, begin);
  }
}

/**
 * What is to be mended in a configuration that is refused.
 *
 * @throws any error that is none of this package.
 */
export function refusedConfiguration(error: unknown): Finding {
  if (!isAgentBffError(error)) throw error;
  const { message, block = 'configureServer', fields } = error;
  return { check: 'configuration', result: 'failed', message, block, fields };
}

/** Variables that are nearly ours, and those that are another program's. */
function environment(config: ServerConfig): readonly Finding[] {
  return warningsOf(config).map(({ code, detail, variable }) => ({
    check: 'environment',
    result: code === 'variable_misspelt' ? 'failed' : 'warning',
    message: detail,
    block: 'environment',
    fields: [variable],
  }));
}

function address(check: string, field: string, found: { origin: string } | undefined, isNeeded: boolean): Finding {
  if (found !== undefined) return { check, result: 'ok', message: found.origin };
  const result = isNeeded ? 'failed' : 'warning';
  return { check, result, message: 'is not set', block: 'configureServer', fields: [field] };
}

/** A page of any name that leads to the server is taken for the site's own where the site has no address of its own. */
function publicAddress({ publicUrl }: ResolvedConfig, isProduction: boolean): readonly Finding[] {
  const check = 'public address';
  if (publicUrl !== '') return [{ check, result: 'ok', message: publicUrl }];
  if (!isProduction) return [];
  const message =
    'is not set, so the origin check goes by the Host field of each request; set it to the address visitors use, such as https://site.example';
  return [{ check, result: 'warning', message, block: 'configureServer', fields: ['publicUrl'] }];
}

function needsAudience(chosen: ChosenStrategy, { serviceAccount }: ResolvedConfig): boolean {
  return chosen.kind === 'provider' && chosen.name === 'service_account' && serviceAccount.audience === '';
}

function strategy(chosen: ChosenStrategy, { onBehalfOf }: ResolvedConfig): Finding {
  const check = 'strategy';
  if (chosen.kind === 'provider') return { check, result: 'ok', message: chosen.name };
  if (chosen.kind === 'api-key') {
    return { check, result: 'ok', message: 'the API key alone; there is no token to try' };
  }
  if (onBehalfOf.configured) {
    return { check, result: 'skipped', message: "no service credential: only users' tokens are exchanged" };
  }
  const message = 'no credential is configured';
  return { check, result: 'failed', message, block: 'configureServer', fields: ['serviceAuthStrategy'] };
}

/** Key, provider and token of the configured strategy, up to the first that fails. */
async function serviceCredential(config: ResolvedConfig, name: string, ports: ToolkitPorts): Promise<Finding[]> {
  const clock = ports.clock ?? systemClock;
  const findings: Finding[] = [];
  if (name === 'service_account') findings.push(await serviceAccountKey(config.serviceAccount, clock));
  if (builtInProvider(name) === 'idp_b') findings.push(...(await certificate(config.idpB, clock)));
  const provider = builtInProvider(name);
  if (provider !== undefined) {
    findings.push(await providerReach(provider, config, config.idpB, 'idpBService', ports.identityFetch ?? fetch));
  }
  if (findings.some(({ result }) => result === 'failed')) {
    return [...findings, { check: 'token', result: 'skipped', message: 'skipped: fix the above first' }];
  }
  return [...findings, ...(await token(config, name, ports, clock))];
}

async function token(config: ResolvedConfig, name: string, ports: ToolkitPorts, clock: Clock): Promise<Finding[]> {
  const check = 'token';
  const load = providerLoader(config, identities(ports));
  const now = clock.now();
  let outcome: IssueOutcome | undefined;
  try {
    outcome = await (await load(name))?.issue(now);
  } catch (error) {
    const message = `the provider of this strategy failed: ${error instanceof Error ? error.name : typeof error}`;
    return [{ check, result: 'failed', message, block: 'configureServer', fields: ['serviceAuthStrategy'] }];
  }
  if (outcome === undefined) {
    const message = 'this strategy has no identity provider';
    return [{ check, result: 'failed', message, block: 'configureServer', fields: ['serviceAuthStrategy'] }];
  }
  if (outcome.kind === 'failure') {
    const { block, fields, advice, detail } = outcome;
    return [{ check, result: 'failed', message: `${advice} (${detail})`, block, fields }];
  }
  return [{ check, result: 'ok', message: 'obtained' }, ...tokenFindings(config, name, outcome.token, now)];
}

/** What can be said of the exchange while nobody is signed in; what the service credential showed already is not said twice. */
async function userExchange(config: ResolvedConfig, chosen: ChosenStrategy, ports: ToolkitPorts): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { own, idpB } = config.onBehalfOf;
  const provider = config.onBehalfOf.provider === 'idp_a' ? 'idp_a' : 'idp_b';
  const seen = chosen.kind === 'provider' && builtInProvider(chosen.name) === provider;
  const block = (field: string): string => (own.has(field) ? 'onBehalfOf' : 'idpBService');
  const { clock = systemClock, identityFetch = fetch } = ports;
  if (provider === 'idp_b' && (!seen || own.has('certificatePath'))) {
    findings.push(...(await certificate(idpB, clock, block('certificatePath'))));
  }
  if (!seen || own.has('tenantId')) {
    findings.push(await providerReach(provider, config, idpB, block('tenantId'), identityFetch));
  }
  if (!findings.some(({ result }) => result === 'failed')) findings.push(await exchange(config, provider, ports));
  return findings;
}

/** Without a user's token nobody is asked: what is missing in the configuration is found before. */
async function exchange(config: ResolvedConfig, provider: 'idp_a' | 'idp_b', ports: ToolkitPorts): Promise<Finding> {
  const check = 'exchange';
  const { clock = systemClock, tokenExchange } = ports;
  const ours =
    tokenExchange === undefined ? await PROVIDERS[provider].exchange?.(config, identities(ports)) : undefined;
  const outcome = await ours?.exchange({ assertion: '' }, clock.now());
  if (outcome?.kind !== 'failure') return { check, result: 'skipped', message: 'needs a signed-in user' };
  const { block, fields, advice, detail } = outcome;
  return { check, result: 'failed', message: `${advice} (${detail})`, block, fields };
}

function identities({ identityFetch, telemetry = silentTelemetry, clock = systemClock }: ToolkitPorts): Identities {
  return { fetch: identityFetch, fingerprintKey: new Uint8Array(32), telemetry, clock };
}

/** Where to look when the platform does not take a credential that could be had. */
function placeOf(chosen: ChosenStrategy): Place {
  if (chosen.kind !== 'provider') return { block: 'configureServer', fields: ['serviceApiKey'] };
  const name = providerOf(chosen.name);
  return name === undefined ? { block: 'configureServer', fields: ['serviceAuthStrategy'] } : PROVIDERS[name];
}

/** The providers whose address a look-up can be tried at; any other is tried with its first token alone. */
function builtInProvider(flow: string): 'idp_a' | 'idp_b' | undefined {
  const name = providerOf(flow);
  return name === 'idp_a' || name === 'idp_b' ? name : undefined;
}
