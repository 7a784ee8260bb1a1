import { silentTelemetry } from '../../adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../adapters/system/system.js';
import { type ChosenStrategy, chooseStrategy } from '../../domain/credentials/strategy.js';
import type { Endpoint } from '../../domain/upstream/upstream-request.js';
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
import { errorPage } from './error-page-finding.js';
import { failed, type Finding, named, passed, type Place, refused, skipped, topLevel, warning } from './finding.js';
import { certificate, serviceAccountKey } from './key-findings.js';
import { platformFindings, type Trials } from './platform-findings.js';
import { providerReach } from './discovery-check.js';
import { tokenFindings } from './token-findings.js';

const STRATEGY = topLevel('serviceAuthStrategy');
const CHOOSE =
  'Fill the configuration block of a strategy and name it in "serviceAuthStrategy", or set "serviceApiKey", in configureServer.';

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
    return [...environment(config), refused('configuration', error)];
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
  const { publicUrl } = resolved;
  if (publicUrl !== '') begin('error page');
  const page = publicUrl === '' ? [] : [await errorPage(publicUrl)];
  return [
    passed('configuration', 'every field is known and well formed'),
    ...environment(config),
    address('agent address', 'a2aUrl', resolved.agent, true),
    ...publicAddress(resolved, isProduction),
    ...page,
    ...credential,
    ...cache,
    ...(await visit()),
  ];

  /** What visitors would see, where there is a credential to try it with. */
  async function visit(): Promise<readonly Finding[]> {
    const check = 'platform';
    if (credential.some(({ result }) => result === 'failed')) return [skipped(check)];
    if (chosen.kind === 'none') return [skipped(check, 'needs a signed-in user')];
    return platformFindings(config, resolved, ports, placeOf(chosen), trials, begin);
  }
}

/** Variables that are nearly ours, and those that are another program's. */
function environment(config: ServerConfig): readonly Finding[] {
  return warningsOf(config).map(({ code, detail, variable }) => {
    const [, happened = detail, fix] = /^(.*?\.) (.*)$/s.exec(detail) ?? [];
    const place = { block: 'environment', fields: [variable] };
    return code === 'variable_misspelt'
      ? failed('environment', happened, place, `${String(fix)} Correct ${named(place)}, or remove it.`)
      : warning('environment', happened, place, fix);
  });
}

function address(check: string, field: string, found: Endpoint | undefined, isNeeded: boolean): Finding {
  if (found !== undefined) return passed(check, found.origin + found.path);
  const fix = `Set ${named(topLevel(field))}.`;
  if (isNeeded) return failed(check, 'is not set', topLevel(field), fix);
  return warning(check, 'is not set; widgets, records and the project need it', topLevel(field), fix);
}

/** A page of any name that leads to the server is taken for the site's own where the site has no address of its own. */
function publicAddress({ publicUrl }: ResolvedConfig, isProduction: boolean): readonly Finding[] {
  const check = 'public address';
  if (publicUrl !== '') return [passed(check, publicUrl)];
  if (!isProduction) return [];
  const message = 'is not set, so the origin check goes by the Host field of each request';
  const fix = 'Set "publicUrl" in configureServer to the address visitors use, such as https://site.example.';
  return [warning(check, message, topLevel('publicUrl'), fix)];
}

function needsAudience(chosen: ChosenStrategy, { serviceAccount }: ResolvedConfig): boolean {
  return chosen.kind === 'provider' && chosen.name === 'service_account' && serviceAccount.audience === '';
}

function strategy(chosen: ChosenStrategy, { onBehalfOf }: ResolvedConfig): Finding {
  const check = 'strategy';
  if (chosen.kind === 'provider') return passed(check, chosen.name);
  if (chosen.kind === 'api-key') return passed(check, 'the API key alone; there is no token to try');
  if (onBehalfOf.configured) return skipped(check, "no service credential: only users' tokens are exchanged");
  return failed(check, 'no credential is configured', topLevel('serviceAuthStrategy', 'serviceApiKey'), CHOOSE);
}

/** Key, provider and token of the configured strategy, up to the first that fails. */
async function serviceCredential(config: ResolvedConfig, flow: string, ports: ToolkitPorts): Promise<Finding[]> {
  const clock = ports.clock ?? systemClock;
  const findings: Finding[] = [];
  const provider = providerOf(flow);
  if (provider === 'service_account') findings.push(await serviceAccountKey(config.serviceAccount, clock));
  if (provider === 'idp_b') findings.push(...(await certificate(config.idpB, clock)));
  if (provider !== undefined) {
    findings.push(...(await providerReach(provider, config, false, ports.identityFetch ?? fetch)));
  }
  if (findings.some(({ result }) => result === 'failed')) return [...findings, skipped('token')];
  return [...findings, ...(await token(config, flow, ports, clock))];
}

async function token(config: ResolvedConfig, flow: string, ports: ToolkitPorts, clock: Clock): Promise<Finding[]> {
  const check = 'token';
  const load = providerLoader(config, identities(ports));
  const now = clock.now();
  let outcome: IssueOutcome | undefined;
  try {
    outcome = await (await load(flow))?.issue(now);
  } catch (error) {
    const message = `the provider of this strategy failed: ${error instanceof Error ? error.name : typeof error}`;
    return [failed(check, message, STRATEGY)];
  }
  if (outcome === undefined) return [failed(check, 'this strategy has no identity provider', STRATEGY, CHOOSE)];
  if (outcome.kind === 'failure') {
    const { block, fields, advice, detail } = outcome;
    return [failed(check, detail, { block, fields }, advice)];
  }
  return [passed(check, 'obtained'), ...tokenFindings(config, flow, outcome.token, now)];
}

/** What can be said of the exchange while nobody is signed in; what the service credential showed already is not said twice. */
async function userExchange(config: ResolvedConfig, chosen: ChosenStrategy, ports: ToolkitPorts): Promise<Finding[]> {
  const findings: Finding[] = [];
  const { own, idpB } = config.onBehalfOf;
  const provider = config.onBehalfOf.provider === 'idp_a' ? 'idp_a' : 'idp_b';
  const seen = chosen.kind === 'provider' && providerOf(chosen.name) === provider;
  const block = (field: string): string => (own.has(field) ? 'onBehalfOf' : 'idpBService');
  const { clock = systemClock, identityFetch = fetch } = ports;
  if (provider === 'idp_b' && (!seen || own.has('certificatePath'))) {
    findings.push(...(await certificate(idpB, clock, block('certificatePath'))));
  }
  if (!seen || own.has('tenantId')) {
    findings.push(...(await providerReach(provider, config, true, identityFetch)));
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
  if (outcome?.kind !== 'failure') return skipped(check, 'needs a signed-in user');
  const { block, fields, advice, detail } = outcome;
  return failed(check, detail, { block, fields }, advice);
}

function identities({ identityFetch, telemetry = silentTelemetry, clock = systemClock }: ToolkitPorts): Identities {
  return { fetch: identityFetch, proofKey: new Uint8Array(32), telemetry, clock };
}

/** Where to look when the platform does not take a credential that could be had. */
function placeOf(chosen: ChosenStrategy): Place {
  if (chosen.kind !== 'provider') return topLevel('serviceApiKey');
  const name = providerOf(chosen.name);
  return name === undefined ? STRATEGY : PROVIDERS[name];
}
