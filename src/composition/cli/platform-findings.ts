import { LOOKUPS, type LookupName } from '../../domain/upstream/platform-directory.js';
import { PLATFORM } from '../../domain/upstream/platform-call.js';
import { platformError, refusesSite } from '../../domain/upstream/platform-error.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/ports.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { type AgentFacts, agentCard } from './card-findings.js';
import { SiteProbe, jsonOf } from './site-probe.js';
import type { Finding } from './finding.js';
import { streaming } from './stream-finding.js';
import { described } from './recording-upstream.js';

/** What to try besides what costs nothing. */
export interface Trials {
  /** A surface to render: its id, or `name:` and its name; empty for none. */
  readonly surface: string;
  /** A chat message to send; empty for none. */
  readonly message: string;
}

/** Where in the configuration something stands. */
export interface Place {
  readonly block: string;
  readonly fields: readonly string[];
}

const TOLERATED_SKEW_MS = 30_000;
const NOT_FOUND = 404;

/** Visits the site of a configuration: the agent's card, the project, the brand, and what is asked for besides. */
export async function platformFindings(
  config: ServerConfig,
  resolved: ResolvedConfig,
  ports: ToolkitPorts,
  credential: Place,
  { surface, message }: Trials,
  begin: (check: string) => void,
): Promise<readonly Finding[]> {
  const site = new SiteProbe(config, resolved, ports);
  const findings: Finding[] = [];
  try {
    let agent: AgentFacts | undefined;
    if (resolved.agent !== undefined) {
      begin('agent card');
      const card = await agentCard(site);
      findings.push(...card.findings);
      agent = card.agent;
    }
    const api =
      resolved.serviceApi === undefined ? undefined : await directory(site, resolved, credential, findings, begin);
    if (surface !== '') findings.push(await ifWorks('surface', api, begin, () => render(site, surface)));
    if (message !== '') findings.push(await ifWorks('streaming', agent, begin, (to) => streaming(site, to, message)));
    findings.push(...clock(site));
  } finally {
    await site.close();
  }
  return findings;
}

/** A finding that rests on another one. */
async function ifWorks<Ground>(
  check: string,
  ground: Ground | undefined,
  begin: (check: string) => void,
  look: (ground: Ground) => Promise<Finding>,
): Promise<Finding> {
  if (ground === undefined) return { check, result: 'skipped', message: 'skipped: fix the above first' };
  begin(check);
  return look(ground);
}

/** Project and brand, up to the first that fails; whether both could be asked for. */
async function directory(
  site: SiteProbe,
  { serviceProjectId }: ResolvedConfig,
  credential: Place,
  findings: Finding[],
  begin: (check: string) => void,
): Promise<true | undefined> {
  begin('project');
  const project = await site.toolkit.projectId();
  if (project === null) {
    findings.push(lookupFailed(site, 'project', credential));
    return undefined;
  }
  const message = serviceProjectId === '' ? project : `${project}, as configured`;
  findings.push({ check: 'project', result: 'ok', message });
  begin('brand');
  const brand = await site.toolkit.brandCss();
  const { status } = site.lookup('brand')?.answer ?? {};
  if (brand === '' && status !== 200 && status !== NOT_FOUND) {
    findings.push(lookupFailed(site, 'brand', credential));
    return undefined;
  }
  if (brand !== '' || status === NOT_FOUND) {
    const found = brand === '' ? 'none' : `a style sheet of ${String(Buffer.byteLength(brand))} bytes`;
    findings.push({ check: 'brand', result: 'ok', message: found });
  } else {
    const finding = lookupFailed(site, 'brand', credential);
    findings.push({ ...finding, result: 'warning' });
  }
  return true;
}

function lookupFailed(site: SiteProbe, check: LookupName, credential: Place): Finding {
  const last = site.lookup(check);
  const place = { block: 'configureServer', fields: LOOKUPS[check].fields };
  if (last === undefined) return { check, result: 'failed', message: 'it could not be asked for', ...place };
  if (last.answer === undefined) {
    return { check, result: 'failed', message: described(last), ...place, fields: PLATFORM.fields };
  }
  const reply = { response: last.answer, credential: { kind: 'service', block: credential.block } } as const;
  const { detail } = platformError(reply, LOOKUPS[check], '');
  return {
    check,
    result: 'failed',
    message: `${detail} (${described(last)})`,
    ...(refusesSite(reply) ? credential : place),
  };
}

async function render(site: SiteProbe, surface: string): Promise<Finding> {
  const check = 'surface';
  const [, name] = /^name:(.+)$/s.exec(surface) ?? [];
  const path = name === undefined ? encodeURIComponent(surface) : `by-name/${encodeURIComponent(name)}`;
  const began = performance.now();
  const response = await site.ask(site.toolkit.serviceSurfaceHandler(), {
    method: 'POST',
    path: `/${path}/render`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const answer = await jsonOf(response);
  const ms = Math.round(performance.now() - began);
  const { status } = response;
  if (status === 200) return { check, result: 'ok', message: `rendered in ${String(ms)} ms` };
  const { type, code } = Object(answer) as { readonly type?: unknown; readonly code?: unknown };
  const isOurs = String(type).startsWith('urn:agent-bff:error:');
  // The platform knows the caller, and not the surface, whether or not its words pass.
  const isRefusal = !isOurs || (code === 'upstream_error' && status < 500);
  if (!isRefusal && status !== NOT_FOUND) return site.failed(check, answer, ['serviceApiUrl']);
  const message = isRefusal
    ? `the platform answers ${String(status)} after ${String(ms)} ms`
    : 'no surface can have this name';
  return { check, result: 'failed', message, block: 'command line', fields: ['--surface'] };
}

/** Compares the local clock with that of whoever answered last. */
function clock({ calls }: SiteProbe): readonly Finding[] {
  const aheadMs = calls.findLast((call) => call.aheadMs !== undefined)?.aheadMs;
  if (aheadMs === undefined) return [];
  const check = 'platform clock';
  if (Math.abs(aheadMs) <= TOLERATED_SKEW_MS) return [{ check, result: 'ok', message: "agrees with the platform's" }];
  const seconds = String(Math.round(Math.abs(aheadMs) / 1_000));
  const message = `the local clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the platform's: tokens made here may be refused`;
  return [{ check, result: 'warning', message }];
}
