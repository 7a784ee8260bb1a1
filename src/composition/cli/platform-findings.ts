import { LOOKUPS, type LookupName } from '../../domain/upstream/platform-directory.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { type AgentFacts, agentCard } from './card-findings.js';
import { SiteProbe, jsonOf } from './site-probe.js';
import { failed, type Finding, passed, type Place, skipped, topLevel } from './finding.js';
import { clocks } from './clock-finding.js';
import { streaming } from './stream-finding.js';

/** What to try besides what costs nothing. */
export interface Trials {
  /** A surface to render: its id, or `name:` and its name; empty for none. */
  readonly surface: string;
  /** A chat message to send; empty for none. */
  readonly message: string;
}

const OK = 200;
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
      const card = await agentCard(site, credential);
      findings.push(...card.findings);
      agent = card.agent;
    }
    const api =
      resolved.serviceApi === undefined ? undefined : await directory(site, resolved, credential, findings, begin);
    if (surface !== '') findings.push(await ifWorks('surface', api, begin, () => render(site, surface, credential)));
    if (message !== '')
      findings.push(await ifWorks('streaming', agent, begin, (to) => streaming(site, to, message, credential)));
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
  if (ground === undefined) return skipped(check);
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
  const lookupFailed = (check: LookupName): Finding =>
    site.failed(check, topLevel(...LOOKUPS[check].fields), credential, `${check}_unavailable`);
  begin('project');
  const project = await site.toolkit.projectId();
  if (project === null) {
    findings.push(lookupFailed('project'));
    return undefined;
  }
  findings.push(passed('project', serviceProjectId === '' ? project : `${project}, as configured`));
  begin('brand');
  const brand = await site.toolkit.brandCss();
  if (brand === '' && site.told('brand_unavailable') !== undefined) {
    const finding = lookupFailed('brand');
    // A response that is no style sheet costs pages their style; a platform that gives none, more than that.
    const isThere = site.told('brand_unavailable')?.detail.includes(' status 200 ') === true;
    findings.push({ ...finding, result: isThere ? 'warning' : 'failed' });
    return isThere ? true : undefined;
  }
  findings.push(passed('brand', brand === '' ? 'none' : `a style sheet of ${String(Buffer.byteLength(brand))} bytes`));
  return true;
}

async function render(site: SiteProbe, surface: string, credential: Place): Promise<Finding> {
  const check = 'surface';
  const [, name] = /^name:(.+)$/s.exec(surface) ?? [];
  const path = name === undefined ? encodeURIComponent(surface) : `by-name/${encodeURIComponent(name)}`;
  const began = performance.now();
  const { handlers } = site.toolkit;
  const response = await site.ask(handlers.surfaces(handlers.auths.service({}), {}), {
    method: 'POST',
    path: `/${path}/render`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const body = await jsonOf(response);
  const ms = Math.round(performance.now() - began);
  const { status } = response;
  if (status === OK) return passed(check, `rendered in ${String(ms)} ms`);
  const { type, code } = Object(body) as { readonly type?: unknown; readonly code?: unknown };
  const isOurs = String(type).startsWith('urn:agent-bff:error:');
  // The platform knows the caller, and not the surface, whether or not its words pass.
  const isRefusal = !isOurs || (code === 'upstream_error' && status < 500);
  if (!isRefusal && status !== NOT_FOUND) return site.failed(check, topLevel('serviceApiUrl'), credential);
  const message = isRefusal
    ? `the platform responds ${String(status)} after ${String(ms)} ms`
    : 'no surface can have this name';
  const fix = 'Give an id or a name the platform knows to --surface on the command line.';
  return failed(check, message, { block: 'command line', fields: ['--surface'] }, fix);
}

/** Compares the local clock with that of whoever responded last. */
function clock({ responses }: SiteProbe): readonly Finding[] {
  const last = responses.findLast(({ aheadMs }) => !Number.isNaN(aheadMs));
  return last === undefined ? [] : [clocks('platform clock', last.aheadMs, "the platform's")];
}
