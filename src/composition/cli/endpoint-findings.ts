import type { CardInterface } from '../../domain/chat/agent-card.js';
import { isEventStream } from '../../domain/shared/body.js';
import { withoutTrailingSlashes } from '../../domain/shared/paths.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { failed, type Finding, passed, type Place, skipped, topLevel, warning } from './finding.js';
import { excerpt, jsonOf, SiteProbe } from './site-probe.js';

/** The checks that a request without effect can make: the address of the agent, and the credential. */
export const ENDPOINT = 'agent endpoint';
export const CREDENTIAL = 'credential';

/** The agent behind an address, as far as its card tells. */
export interface EndpointFacts {
  /** True for version 1 of the protocol. */
  readonly isVersion1: boolean;
  /** False if there is no card. */
  readonly hasCard: boolean;
  readonly interfaces: readonly CardInterface[];
}

const AGENT = topLevel('a2aUrl');
const CHECK_ADDRESS = 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.';
const MAX_TRIAL_MS = 10_000;
const REFUSALS: readonly (number | undefined)[] = [401, 403];

/** The response to one trial. */
interface Trial {
  /** Status of the agent's response; undefined if there was none. */
  readonly status: number | undefined;
  /** True if the site's own error came in its place. */
  readonly isOurs: boolean;
  /** True if the response is JSON-RPC. */
  readonly isAgents: boolean;
}

/** A site, and everything needed to build one like it without its credential. */
export interface TriedSite {
  readonly site: SiteProbe;
  readonly config: ServerConfig;
  readonly resolved: ResolvedConfig;
  readonly ports: ToolkitPorts;
  /** The place to check if the credential is refused. */
  readonly credential: Place;
}

/**
 * Asks the agent for a task that does not exist, which costs it nothing, with the credential and without: shows that the
 * address speaks A2A, and whether the credential counts there. `isOpen` is true if the site sends the agent none.
 */
export async function endpointFindings(tried: TriedSite, facts: EndpointFacts, isOpen: boolean): Promise<Finding[]> {
  const { site, resolved, credential } = tried;
  if (!resolved.servicePolicy.allows('GetTask')) {
    return [
      skipped(CREDENTIAL, 'could not be tried: "a2aMethods" does not allow tasks/get; try it with --message TEXT'),
    ];
  }
  const own = await trial(site, facts.isVersion1);
  if (REFUSALS.includes(own.status)) {
    return [site.failed(CREDENTIAL, credential, own.isAgents ? 'credential_refused' : undefined)];
  }
  if (!own.isAgents) {
    if (!facts.hasCard) return [];
    const finding = own.isOurs ? site.failed(ENDPOINT, AGENT) : failed(ENDPOINT, foreign(own), AGENT, CHECK_ADDRESS);
    return [advised(finding, facts.interfaces, resolved.agent)];
  }
  const address = compared(facts.interfaces, resolved.agent);
  if (isOpen) return [address, passed(CREDENTIAL, 'none is needed: the agent responds without one')];
  const bare = await withoutCredential(tried, facts);
  if (REFUSALS.includes(bare.status)) {
    return [address, passed(CREDENTIAL, `accepted; without it the agent responds with status ${String(bare.status)}`)];
  }
  const same = 'could not be tried: the agent responds alike without it; try it with --message TEXT';
  return [address, skipped(CREDENTIAL, same)];
}

function foreign({ status = 0 }: Trial): string {
  return `it responds with status ${String(status)}, but not in JSON-RPC`;
}

/** The same request from a site whose agent gets no credential. */
async function withoutCredential({ config, resolved, ports, credential }: TriedSite, facts: EndpointFacts) {
  const open = { ...config, serviceAuthStrategy: 'none', authProvider: '' };
  const site = new SiteProbe(open, resolved, ports, credential);
  try {
    return await trial(site, facts.isVersion1);
  } finally {
    await site.close();
  }
}

async function trial(site: SiteProbe, isVersion1: boolean): Promise<Trial> {
  const before = site.responses.length;
  const leaving = new AbortController();
  const tooLong = setTimeout(() => leaving.abort(), MAX_TRIAL_MS);
  const method = isVersion1 ? 'GetTask' : 'tasks/get';
  try {
    const response = await site.ask(site.toolkit.handlers.chat({}), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(isVersion1 && { 'a2a-version': '1.0' }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: crypto.randomUUID() } }),
      signal: leaving.signal,
    });
    const { status } = site.responses.slice(before).at(-1) ?? {};
    if (isEventStream(response.headers)) return { status, isOurs: false, isAgents: true };
    const { error, result } = Object(await jsonOf(response)) as {
      error?: { code?: unknown; data?: unknown };
      result?: unknown;
    };
    const [info] = [error?.data].flat() as { domain?: unknown }[];
    const isOurs = info?.domain === 'agent-bff';
    const isAgents = !isOurs && (typeof error?.code === 'number' || result !== undefined);
    return { status, isOurs, isAgents };
  } finally {
    clearTimeout(tooLong);
    leaving.abort();
  }
}

/** Compares a working address with the interfaces of the card. */
function compared(interfaces: readonly CardInterface[], agent: Endpoint | undefined): Finding {
  const speaks = 'responds in JSON-RPC';
  const [named] = jsonRpc(interfaces);
  if (named === undefined || agent === undefined) {
    if (interfaces.length === 0) return passed(ENDPOINT, speaks);
    return warning(
      ENDPOINT,
      `${speaks}, but the card names no such interface`,
      AGENT,
      'Check "a2aUrl" in configureServer.',
    );
  }
  if (jsonRpc(interfaces).some(({ url }) => pathOf(url, agent) === pathOf(agent.path, agent))) {
    const [host, own] = [originOf(named.url, agent), agent.origin.toLowerCase()];
    return passed(
      ENDPOINT,
      host === own ? `${speaks}, as its card says` : `${speaks}; its card names it at ${excerpt(host)}`,
    );
  }
  const url = excerpt(named.url);
  const fix = `Set "a2aUrl" in configureServer to that address, unless a gateway in front of the agent changes paths.`;
  return warning(ENDPOINT, `${speaks}, but the card names another address: ${url}`, AGENT, fix);
}

/** The failure of an address that does not speak A2A, with the address in the card. */
function advised(finding: Finding, interfaces: readonly CardInterface[], agent: Endpoint | undefined): Finding {
  const [named] = jsonRpc(interfaces);
  if (agent === undefined || named === undefined) return finding;
  const at = pathOf(named.url, agent);
  if (at === undefined || at === pathOf(agent.path, agent)) return finding;
  const other = interfaces.find(
    ({ url, binding }) => !isJsonRpc(binding) && pathOf(url, agent) === pathOf(agent.path, agent),
  );
  const message =
    other === undefined
      ? finding.message
      : `${finding.message} Its card says ${excerpt(other.binding, 20)} for this address.`;
  return {
    ...finding,
    message,
    fix: `Set "a2aUrl" in configureServer to ${excerpt(named.url)}, which the card names.`,
  };
}

function jsonRpc(interfaces: readonly CardInterface[]): readonly CardInterface[] {
  return interfaces.filter(({ binding }) => isJsonRpc(binding));
}

function isJsonRpc(binding: string): boolean {
  return binding === '' || /^json-?rpc$/i.test(binding);
}

function pathOf(url: string, { origin }: Endpoint): string | undefined {
  return URL.canParse(url, origin) ? withoutTrailingSlashes(new URL(url, origin).pathname) : undefined;
}

function originOf(url: string, { origin }: Endpoint): string {
  return URL.canParse(url, origin) ? new URL(url, origin).origin : '';
}
