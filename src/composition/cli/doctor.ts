import { parseArgs } from 'node:util';
import type { SecretFile } from '../../adapters/keys/secret-file.js';
import { silentTelemetry } from '../../adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../adapters/system/system.js';
import { type ChosenStrategy, chooseStrategy } from '../../domain/credentials/credential-broker.js';
import { checkedOutcome, type WrongResult } from '../../domain/credentials/site-results.js';
import { reasonOf } from '../../domain/shared/failure-reason.js';
import { visibleLine } from '../../domain/shared/redaction.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import type { ProviderContext, ProviderFacts } from '../../domain/shared/provider-descriptor.js';
import type { IdentityProvider, IssueOutcome } from '../../ports/identity-provider.js';
import type { ServerConfig } from '../config/server-config.js';
import { variablesOf, warningsOf } from '../config/env.js';
import { FLOWS, providerOf, PROVIDERS } from '../config/providers.js';
import { providerFetch } from '../toolkit/connections.js';
import { providerContext, providerLoader, tokenExchange } from '../toolkit/identity-module.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import { type Command, isUsageError, STATUS, type Terminal, type TextStyle } from './command-line.js';
import { configuration, CONFIGURATION_HELP, SOURCE_OPTIONS } from './configuration-source.js';
import { cacheFindings, siteFindings } from './deployment-findings.js';
import { failed, type Finding, named, passed, type Suspect, refused, skipped, topLevel, warning } from './finding.js';
import { platformFindings, TRIAL, type Trials } from './platform-findings.js';
import { providerFindings, tokenFindings } from './provider-findings.js';

const MARKS: Readonly<Record<Finding['result'], readonly [mark: string, style: TextStyle]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

/** The command `doctor`. */
export const DOCTOR: Command = {
  summary: 'tests a configuration, and lists what to fix',
  help: `agent-bff doctor [--config FILE | --env FILE] [--surface ID] [--message TEXT] [--json]

Tests a configuration: keys and certificates, the identity provider, a token, the shared cache, the agent's card,
the project, the brand and the clocks. Checks that depend on a failed one are skipped. Secrets are never printed.

  --config FILE    reads the configuration from here
  --env FILE       adds variables such as A2A_URL=https://agent.example; those already set take precedence
  --surface ID     also renders this surface; name:NAME for one by its name
  --message TEXT   also sends this message to the agent, and reports how its response streams
  --json           prints the findings as JSON, whatever happens

${CONFIGURATION_HELP}

${STATUS}`,
  run,
};

async function run(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { ...SOURCE_OPTIONS, surface: text, message: text, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options });
  const { surface = '', message = '' } = values;
  const { progress = () => undefined } = terminal;
  let findings: readonly Finding[];
  try {
    const config = await configuration(values, terminal.env);
    const isProduction = terminal.env['NODE_ENV'] === 'production';
    findings = await examine(config, ports, { surface, message }, (check) => progress(`… ${check}`), isProduction);
  } catch (error) {
    if (isUsageError(error)) throw error;
    findings = [refused('configuration', error)];
  } finally {
    progress('');
  }
  return tell(findings, terminal, values.json === true, values.config === undefined);
}

/**
 * Prints findings for people or programs, and returns the exit status. `byVariables` is true if the configuration comes
 * from environment variables.
 */
export function tell(
  findings: readonly Finding[],
  terminal: Terminal,
  asJson: boolean,
  byVariables: boolean = false,
): number {
  const failures = findings.filter(({ result }) => result === 'failed');
  // They may quote the agent, the platform or the provider.
  const named = (byVariables ? findings.map(withVariables) : findings).map(({ message, fix, ...rest }) => {
    return { ...rest, message: visibleLine(message), ...(fix !== undefined && { fix: visibleLine(fix) }) };
  });
  if (asJson) {
    terminal.print(JSON.stringify({ ok: failures.length === 0, findings: named }, null, 2));
  } else {
    for (const finding of named) terminal.print(line(finding, terminal));
    const notes = findings.filter(({ result }) => result === 'warning').length;
    const also = notes === 0 ? '' : ` ${String(notes)} to review, marked with "!".`;
    const isUntried = findings.some(({ check, result }) => check === TRIAL && result === 'warning');
    const well = isUntried ? 'Nothing to fix, but the credential was not tried.' : 'All is well.';
    terminal.print(failures.length === 0 ? `\n${well}${also}` : `\n${String(failures.length)} to fix.`);
  }
  return failures.length === 0 ? 0 : 1;
}

/** A finding with the environment variables that set its fields. */
function withVariables(finding: Finding): Finding {
  const { block = '', fields = [] } = finding;
  const variables = variablesOf(block, fields);
  return variables.length === 0 ? finding : { ...finding, variables };
}

function line(
  { check, result, message, fix, variables = [] }: Finding,
  { style = (_, plain) => plain }: Terminal,
): string {
  const [mark, colour] = MARKS[result];
  const found = `${style(colour, mark)} ${check.padEnd(18)}${message}`;
  if (fix === undefined) return found;
  const others = variables.filter((name) => !fix.includes(name));
  return `${found}\n    ${style('bold', `fix: ${fix}${others.length === 0 ? '' : ` (${others.join(', ')})`}`)}`;
}

const STRATEGY = topLevel('serviceAuthStrategy');
const CHOOSE =
  'For routes without "auth", fill the configuration block of a strategy and name it in "serviceAuthStrategy" or "authProvider", or set "serviceApiKey", in configureServer. For an agent without authentication, the strategy is "none".';

/**
 * Tests a configuration: reads keys and certificates, contacts the providers, requests a token, compares it with the
 * configuration, and calls the site's routes. `begin` receives the name of each check. Checks that depend on a failed
 * one are skipped, so that one fault is one line. `isProduction` adds checks for sites that visitors reach from other
 * machines.
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
    return [...environment(config, ports), refused('configuration', error)];
  }
  const { serviceAuthStrategy, serviceApiKey } = resolved;
  const given = { flows: FLOWS, strategy: serviceAuthStrategy, hasApiKey: serviceApiKey !== undefined };
  const chosen = chooseStrategy({ ...resolved, ...given });
  const { clock = systemClock, telemetry = silentTelemetry, identityFetch = providerFetch(resolved) } = ports;
  const parts = { fetch: identityFetch, telemetry, clock, proofKey: new Uint8Array(32) };
  const context = providerContext(resolved, parts);
  begin('credential');
  const provider = chosen.kind === 'provider' ? providerOf(chosen.name) : undefined;
  const facts = provider === undefined ? NO_FACTS : PROVIDERS[provider].examine(resolved, clock);
  const credential = [
    // Optional for the chat. Tokens signed by this server use it as their audience.
    address('platform address', 'serviceApiUrl', resolved.serviceApi, needsAudience(facts)),
    strategy(chosen, resolved),
    ...(chosen.kind === 'provider' ? await serviceCredential(resolved, chosen.name, facts, context) : []),
    ...(resolved.alwaysExchange ? await userExchange(resolved, facts, context, ports.tokenExchange !== undefined) : []),
  ];
  begin('cache store');
  const cache = await cacheFindings(resolved, clock);
  const { publicUrl } = resolved;
  if (publicUrl !== '') begin('site');
  const running = publicUrl === '' ? [] : await siteFindings(publicUrl);
  return [
    passed('configuration', 'every field is known and well formed'),
    ...environment(config, ports),
    address('agent address', 'a2aUrl', resolved.agent, true),
    ...resolved.files.flatMap(secretFile),
    ...publicAddress(resolved, isProduction),
    ...running,
    ...credential,
    ...cache,
    ...(chosen.kind === 'none' ? [] : [conversations(config)]),
    ...(await visit()),
  ];

  /** Findings of a visitor's requests, if a credential is available. */
  async function visit(): Promise<readonly Finding[]> {
    const check = 'platform';
    if (credential.some(({ result }) => result === 'failed')) return [skipped(check)];
    if (chosen.kind === 'none') return [skipped(check, 'needs a signed-in user')];
    return platformFindings({ config, resolved, ports, credential: suspectOf(chosen), begin }, trials);
  }
}

/** Warns about variables with a similar name to one of ours, and lists those of other programs. */
function environment(config: ServerConfig, { identityProviders }: ToolkitPorts): readonly Finding[] {
  return warningsOf(config, identityProviders).map(({ code, detail, variable }) => {
    const [, happened = detail, fix] = /^(.*?\.) (.*)$/s.exec(detail) ?? [];
    const suspect = { block: 'environment', fields: [variable] };
    return code === 'variable_misspelt' || code === 'variable_foreign'
      ? failed('environment', happened, suspect, `${String(fix)} Correct ${named(suspect)}, or remove it.`)
      : warning('environment', happened, suspect, fix);
  });
}

function address(check: string, field: string, found: Endpoint | undefined, isNeeded: boolean): Finding {
  if (found !== undefined) return passed(check, found.origin + found.path);
  const fix = `Set ${named(topLevel(field))}.`;
  if (isNeeded) return failed(check, 'is not set', topLevel(field), fix);
  return skipped(check, 'is not set; only widgets, records and the project need it');
}

function secretFile({ current, fault, setting: { block, field } }: SecretFile): readonly Finding[] {
  return current === undefined ? [failed('secret file', fault, { block, fields: [field] })] : [];
}

/** Warns in production if no public address is configured: pages under any host name that resolves to the server then count as the site's own. */
function publicAddress({ publicUrl }: ResolvedConfig, isProduction: boolean): readonly Finding[] {
  const check = 'public address';
  if (publicUrl !== '') return [passed(check, publicUrl)];
  if (!isProduction) return [skipped('site', 'not checked: "publicUrl" is not set (PUBLIC_URL)')];
  const message = 'is not set, so the origin check uses the Host field of each request';
  const fix = 'Set "publicUrl" in configureServer to the address visitors use, such as https://site.example.';
  return [warning(check, message, topLevel('publicUrl'), fix)];
}

/** Advice, since many sites have no visitors with secrets: behind one credential, ids alone separate their conversations. */
function conversations({ conversations: access }: ServerConfig): Finding {
  const check = 'conversations';
  if (access === 'visitor') return passed(check, 'belong to their visitors');
  const open =
    'open, unless a route sets "conversations" to "visitor"; anyone who learns an id can read and continue them';
  return access === 'open'
    ? passed(check, open)
    : skipped(check, 'as the routes set them; without "conversations", open');
}

/** Facts for a custom provider, or for none. */
const NO_FACTS: ProviderFacts = { keys: [] };

function needsAudience({ expected, address: reached }: ProviderFacts): boolean {
  return reached === undefined && expected?.audience.includes('') === true;
}

function strategy(chosen: ChosenStrategy, { alwaysExchange }: ResolvedConfig): Finding {
  const check = 'strategy';
  if (chosen.kind === 'provider') return passed(check, chosen.name);
  if (chosen.kind === 'api-key') return passed(check, 'the API key alone; there is no token to test');
  if (chosen.kind === 'static-token') return passed(check, 'a fixed token, "serviceToken"');
  if (chosen.kind === 'no-credential') return passed(check, 'none: calls to the agent carry no credential');
  if (alwaysExchange) return skipped(check, "no service credential: only users' tokens are exchanged");
  const message = 'no service credential: routes with "auth" send that of the user, others answer 401';
  return warning(check, message, topLevel('serviceAuthStrategy', 'authProvider', 'serviceApiKey'), CHOOSE);
}

/** Checks key, provider and token of the configured strategy, up to the first failure. */
async function serviceCredential(
  config: ResolvedConfig,
  flow: string,
  facts: ProviderFacts,
  context: ProviderContext,
): Promise<Finding[]> {
  const check = 'token';
  const findings = await providerFindings(facts, context);
  if (findings.some(({ result }) => result === 'failed')) return [...findings, skipped(check)];
  const now = context.clock.now();
  let outcome: IssueOutcome | WrongResult;
  try {
    const provider = (await providerLoader(config, context)(flow)) as IdentityProvider;
    const own = { option: 'identityProviders', name: `"issue" of "${flow}"`, block: provider.block } as const;
    outcome = checkedOutcome(await provider.issue(now), own, context.telemetry);
  } catch (error) {
    return [...findings, failed(check, reasonOf(error, 'the provider of this strategy'), STRATEGY)];
  }
  if (outcome.kind === 'failure') {
    const suspect = 'option' in outcome ? topLevel(outcome.option) : outcome;
    return [...findings, failed(check, outcome.log, suspect, outcome.advice)];
  }
  const name = providerOf(flow);
  const block = name === undefined ? flow : PROVIDERS[name].suspects.block;
  return [...findings, passed(check, 'obtained'), ...tokenFindings(block, facts.expected, outcome.token, now)];
}

/** Findings about the exchange that do not need a user's token, except those already reported for the service credential. */
async function userExchange(
  config: ResolvedConfig,
  service: ProviderFacts,
  context: ProviderContext,
  isOwn: boolean,
): Promise<Finding[]> {
  const facts = PROVIDERS[config.exchangeProvider].examineExchange?.(config, context.clock) ?? NO_FACTS;
  const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
  const keys = facts.keys.filter((key) => !service.keys.some((other) => isSame(key, other)));
  const fresh = isSame(facts.address, service.address) ? { keys } : { ...facts, keys };
  const findings = await providerFindings(fresh, context);
  if (findings.some(({ result }) => result === 'failed')) return findings;
  // An empty user token: missing fields are detected before the provider is called.
  const now = context.clock.now();
  const outcome = isOwn ? undefined : await tokenExchange(config, context).exchange({ assertion: '' }, now);
  if (outcome?.kind !== 'failure') return [...findings, skipped('exchange', 'needs a signed-in user')];
  return [...findings, failed('exchange', outcome.log, outcome, outcome.advice)];
}

/** The suspect to check if the platform rejects a credential that was obtained. */
function suspectOf(chosen: ChosenStrategy): Suspect {
  if (chosen.kind === 'no-credential') return STRATEGY;
  if (chosen.kind !== 'provider') return topLevel(chosen.kind === 'static-token' ? 'serviceToken' : 'serviceApiKey');
  const name = providerOf(chosen.name);
  return name === undefined ? STRATEGY : PROVIDERS[name].suspects;
}
