import type { CardInterface } from '../../domain/chat/agent-card.js';
import { isEventStream } from '../../domain/shared/body.js';
import { LOOKUPS, type LookupName } from '../../domain/upstream/platform-directory.js';
import type { ServerConfig } from '../config/server-config.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { advised, otherAddress } from './card-address.js';
import { clocks, failed, type Finding, passed, type Place, skipped, topLevel, warning } from './finding.js';
import { excerpt, jsonOf, SiteProbe } from './site-probe.js';

/** Optional checks, each of which costs a request of the site. */
export interface Trials {
  /** A surface to render: its id, or `name:` followed by its name; empty for none. */
  readonly surface: string;
  /** A chat message to send; empty for none. */
  readonly message: string;
}

const OK = 200;
const NOT_FOUND = 404;
const STREAMING = 'streaming';
/** The check that tries address and credential of the agent. */
export const TRIAL = 'agent';

/** Visits the site of a configuration: the agent's card, the project, the brand, and the requested trials. */
export async function platformFindings(
  config: ServerConfig,
  resolved: ResolvedConfig,
  ports: ToolkitPorts,
  credential: Place,
  { surface, message }: Trials,
  begin: (check: string) => void,
): Promise<readonly Finding[]> {
  const site = new SiteProbe(config, resolved, ports, credential);
  const findings: Finding[] = [];
  try {
    let agent: AgentFacts | undefined;
    if (resolved.agent !== undefined) {
      begin('agent card');
      agent = await agentCard(site, findings);
      if (agent !== undefined) {
        const found = await trial(site, agent, { config, resolved, ports, credential, begin });
        const isBroken = found.result === 'failed';
        const tried = isBroken ? advised(found, agent.interfaces, resolved.agent) : found;
        // One fault is one line: the refusal says more than a missing card, and a doubtful card that names the address is the fix.
        const card = findings.at(-1)?.result;
        if (isBroken && (card === 'failed' || (card === 'warning' && tried !== found))) findings.pop();
        findings.push(tried, ...(isBroken ? [] : otherAddress(agent.interfaces, resolved.agent)));
        if (isBroken) agent = undefined;
      }
    }
    const isRefused = findings.at(-1)?.result === 'failed' && REFUSED.includes(site.responses.at(-1)?.status);
    const api =
      isRefused || resolved.serviceApi === undefined ? undefined : await directory(site, resolved, findings, begin);
    if (surface !== '') findings.push(await ifWorks('surface', api, begin, () => render(site, surface)));
    if (message !== '') findings.push(await ifWorks(STREAMING, agent, begin, (to) => streaming(site, to, message)));
    if (agent?.hasCard === false) cardMayBeMissing(findings);
    if (findings.some(({ check, result }) => check === STREAMING && result === 'ok')) credentialWasTried(findings);
    findings.push(...clock(site));
  } finally {
    await site.close();
  }
  return findings;
}

/** A finding that depends on another one. */
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

/** Checks project and brand, up to the first failure; the result is true if both were available. */
async function directory(
  site: SiteProbe,
  { serviceProjectId }: ResolvedConfig,
  findings: Finding[],
  begin: (check: string) => void,
): Promise<true | undefined> {
  const lookupFailed = (check: LookupName): Finding =>
    site.failed(check, topLevel(...LOOKUPS[check].fields), `${check}_unavailable`);
  begin('project');
  const project = await site.toolkit.projectId();
  if (project === null) {
    findings.push(lookupFailed('project'));
    return undefined;
  }
  findings.push(passed('project', serviceProjectId === '' ? project : `${project}, as configured`));
  begin('brand');
  const brand = await site.toolkit.brandCss();
  if (brand === '' && site.lastTrouble('brand_unavailable') !== undefined) {
    const finding = lookupFailed('brand');
    // If the response is not a style sheet, pages only lose their style; if there is no response, more is wrong.
    const isThere = site.lastTrouble('brand_unavailable')?.detail.includes(' status 200 ') === true;
    findings.push({ ...finding, result: isThere ? 'warning' : 'failed' });
    return isThere ? true : undefined;
  }
  findings.push(passed('brand', brand === '' ? 'none' : `a style sheet of ${String(Buffer.byteLength(brand))} bytes`));
  return true;
}

async function render(site: SiteProbe, surface: string): Promise<Finding> {
  const check = 'surface';
  const [, name] = /^name:(.+)$/s.exec(surface) ?? [];
  const path = name === undefined ? encodeURIComponent(surface) : `by-name/${encodeURIComponent(name)}`;
  const began = performance.now();
  const { handlers } = site.toolkit;
  const response = await site.ask(handlers.surfaces(handlers.credentials.service({}), {}), {
    method: 'POST',
    path: `/${path}/render`,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const body = await jsonOf(response);
  const took = ms(performance.now() - began);
  const { status } = response;
  if (status === OK) return passed(check, `rendered in ${took}`);
  const { type, code } = Object(body) as { readonly type?: unknown; readonly code?: unknown };
  const isOurs = String(type).startsWith('urn:agent-bff:error:');
  // The platform accepts the caller but does not know the surface, whether or not its message is passed on.
  const isRefusal = !isOurs || (code === 'upstream_error' && status < 500);
  if (!isRefusal && status !== NOT_FOUND) return site.failed(check, topLevel('serviceApiUrl'));
  const message = isRefusal
    ? `the platform responded with status ${String(status)} after ${took}`
    : 'no surface can have this name';
  const fix = 'Pass an id or a name that the platform knows to --surface on the command line.';
  return failed(check, message, { block: 'command line', fields: ['--surface'] }, fix);
}

/** Compares the local clock with the date of the last response. */
function clock({ responses }: SiteProbe): readonly Finding[] {
  const last = responses.findLast(({ aheadMs }) => !Number.isNaN(aheadMs));
  return last === undefined ? [] : [clocks('platform clock', last.aheadMs, "the platform's")];
}

/** Facts about the agent that a message depends on. */
interface AgentFacts {
  /** False if it responds without a card. */
  readonly hasCard: boolean;
  /** True for version 1 of the protocol. */
  readonly isVersion1: boolean;
  readonly streams: boolean;
  readonly interfaces: readonly CardInterface[];
}

/** The agent's card as the browser gets it. */
interface Card {
  readonly name?: unknown;
  readonly protocolVersion?: unknown;
  readonly supportedInterfaces?: readonly { readonly protocolVersion?: unknown }[];
}

/** Fetches the agent's card through the config route, and returns the facts if there is one. */
async function agentCard(site: SiteProbe, findings: Finding[]): Promise<AgentFacts | undefined> {
  const check = 'agent card';
  // Agents of version 1 return an older card unless asked; older agents ignore the field.
  let record = await fetchCard(site, '1.0');
  if (record.status !== OK) record = await fetchCard(site, '');
  if (record.status !== OK) {
    findings.push(site.failed(check, topLevel('a2aUrl')));
    return undefined;
  }
  const {
    agentCard: card,
    supportsStreaming,
    warnings,
  } = record.body as {
    readonly agentCard: Card | null;
    readonly supportsStreaming: boolean;
    readonly warnings: readonly string[];
  };
  if (card === null) {
    findings.push(site.failed(check, topLevel('a2aUrl', 'agentCardUrl'), 'agent_card_unavailable'));
    return { hasCard: false, isVersion1: true, streams: true, interfaces: [] };
  }
  const versions = protocolVersions(card);
  const { address: place, interfaces } = await site.toolkit.handlers.cardFacts(record.version, {
    headers: {},
    native: { request: undefined },
  });
  const streams = supportsStreaming ? 'streams' : 'does not stream';
  const message = `${quotedName(card.name)}, protocol ${versions.join(' and ') || 'without a version'}, ${streams}; found at ${place}`;
  const fix = `Set "agentCardUrl" in configureServer to ${place}, or remove it.`;
  if (warnings.includes('agent_card_url_unavailable')) {
    findings.push(warning(check, `${message}, not at the configured address`, topLevel('agentCardUrl'), fix));
  } else if (warnings.includes('agent_card_doubtful')) {
    const doubt = 'none of its interfaces has the path of the agent, so it may be the card of another one';
    const sure = `Set "agentCardUrl" in configureServer to ${place} if it is the card of this agent.`;
    findings.push(warning(check, `${message}; ${doubt}`, topLevel('a2aUrl', 'agentCardUrl'), sure));
  } else findings.push(passed(check, message));
  return {
    hasCard: true,
    isVersion1: versions.some((version) => version.startsWith('1')),
    streams: supportsStreaming,
    interfaces,
  };
}

/** Downgrades a missing card to a warning once the agent has answered: the chat works without one. */
function cardMayBeMissing(findings: Finding[]): void {
  const at = findings.findIndex(({ check, result }) => check === 'agent card' && result === 'failed');
  const card = findings[at];
  const hasAnswered = [STREAMING, TRIAL].some((name) =>
    findings.some(({ check, result }) => check === name && result === 'ok'),
  );
  if (card !== undefined && hasAnswered) findings[at] = { ...card, result: 'warning' };
}

/** A message that was answered replaces the warning that the credential could not be tried. */
function credentialWasTried(findings: Finding[]): void {
  const at = findings.findIndex(({ check, result }) => check === TRIAL && result === 'warning');
  if (at >= 0) findings[at] = passed(TRIAL, 'answers a message');
}

const REFUSED: readonly unknown[] = [401, 403];
const MESSAGE: Place = { block: 'command line', fields: ['--message'] };
const UNTRIED = 'Try it with a message: npx agent-bff doctor --message "Hello".';

/**
 * Requests a task that does not exist, which costs the agent nothing: with the credential, and without it. The
 * credential counts as tried only if the agent refuses the request without it.
 */
async function trial(
  site: SiteProbe,
  agent: AgentFacts,
  given: {
    readonly config: ServerConfig;
    readonly resolved: ResolvedConfig;
    readonly ports: ToolkitPorts;
    readonly credential: Place;
    readonly begin: (check: string) => void;
  },
): Promise<Finding> {
  const { config, resolved, ports, credential } = given;
  given.begin(TRIAL);
  const sent = await unknownTask(site, agent);
  if (!sent.isAnswered && [...REFUSED, NOT_FOUND, 405, 410].includes(sent.status)) return site.failed(TRIAL, AGENT);
  if (sent.isForeign && agent.hasCard) {
    if (sent.isOurs) return site.failed(TRIAL, AGENT);
    return failed(TRIAL, `responds with status ${String(sent.status)}, but not in JSON-RPC`, AGENT, CHECK_ADDRESS);
  }
  const { serviceAuthStrategy: strategy } = resolved;
  if (strategy === 'none' && !resolved.customProviders.has(strategy)) {
    if (sent.isAnswered) return passed(TRIAL, 'responds, and needs no credential');
    return warning(TRIAL, `responded with status ${String(sent.status)}`, MESSAGE, UNTRIED);
  }
  const bare = new SiteProbe({ ...config, serviceAuthStrategy: 'none' }, resolved, ports, credential);
  try {
    const { status } = await unknownTask(bare, agent);
    if (REFUSED.includes(status))
      return passed(TRIAL, `accepts the credential; without it, it responds ${String(status)}`);
  } finally {
    await bare.close();
  }
  return warning(TRIAL, 'the credential was not tried: the response is the same without it', MESSAGE, UNTRIED);
}

/** The agent's status for a request of an unknown task, and whether the response is one of the protocol. */
async function unknownTask(site: SiteProbe, { isVersion1 }: AgentFacts) {
  const method = isVersion1 ? 'GetTask' : 'tasks/get';
  const response = await site.ask(site.toolkit.handlers.chat({}), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(isVersion1 && { 'a2a-version': '1.0' }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: crypto.randomUUID() } }),
  });
  const { jsonrpc, error } = Object(await jsonOf(response)) as { jsonrpc?: unknown; error?: { data?: unknown } };
  const [info] = [error?.data].flat() as { domain?: unknown }[];
  const { status = 0 } = site.responses.at(-1) ?? {};
  const isOurs = info?.domain === 'agent-bff';
  const isAnswered = jsonrpc === '2.0' && !isOurs;
  // A page, a redirect, or JSON of something else.
  const isForeign =
    !isAnswered && (isOurs || error === undefined) && status >= 200 && status < 400 && !isEventStream(response.headers);
  return { isAnswered, isForeign, isOurs, status };
}

async function fetchCard(site: SiteProbe, version: string) {
  const response = await site.ask(site.toolkit.handlers.chat({}), {
    path: '/config',
    headers: version === '' ? {} : { 'a2a-version': version },
  });
  const body = await jsonOf(response);
  return { version, status: response.status, body };
}

function protocolVersions({ protocolVersion, supportedInterfaces = [] }: Card): readonly string[] {
  const named = [protocolVersion, ...supportedInterfaces.map((one) => one.protocolVersion)];
  return [...new Set(named.filter((version) => typeof version === 'string' && version !== ''))] as string[];
}

/** A name from an external source, quoted. */
function quotedName(name: unknown): string {
  return JSON.stringify(excerpt(String(name), 60));
}

/** Arrival times of the events in a response, in milliseconds since the message was sent. */
interface Arrivals {
  readonly events: readonly number[];
  /** True if reading stopped before the end of the response. */
  readonly isCut: boolean;
  /** True if it ended with an error. */
  readonly isBroken: boolean;
}

const AGENT = topLevel('a2aUrl');
const CHECK_ADDRESS = 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.';
const LOOK_BETWEEN =
  'Check the agent and the proxies in front of it, which must neither buffer nor cut streams, or correct "a2aUrl" in configureServer.';
const MAX_STREAM_MS = 60_000;
/** A faster response does not show whether something buffered it. */
const QUICK_MS = 300;
/** Events less than this time apart arrived together. */
const TOGETHER_MS = 20;

/** Uses the card's version; without a card, the newest version, then the one before. */
async function streaming(site: SiteProbe, agent: AgentFacts, text: string): Promise<Finding> {
  const finding = await streamingOnce(site, agent, text);
  if (agent.hasCard || finding.result !== 'failed') return finding;
  const former = await streamingOnce(site, { ...agent, isVersion1: false }, text);
  return former.result === 'failed' ? finding : former;
}

/** Sends one streaming message, and reports when the events of its response arrive. */
async function streamingOnce(site: SiteProbe, agent: AgentFacts, text: string): Promise<Finding> {
  if (!agent.streams) return skipped(STREAMING, 'the agent card does not announce it');
  const leaving = new AbortController();
  const tooLong = setTimeout(() => leaving.abort(), MAX_STREAM_MS);
  const began = performance.now();
  try {
    const response = await site.ask(site.toolkit.handlers.chat({}), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(agent.isVersion1 && { 'a2a-version': '1.0' }),
      },
      body: JSON.stringify(streamingMessage(agent, text)),
      signal: leaving.signal,
    });
    const { status, headers, body } = response;
    if (!String(headers['content-type']).startsWith('text/event-stream')) {
      return noStream(site, status, await jsonOf(response));
    }
    return evaluate(await arrivals(body as AsyncIterable<Uint8Array>, () => performance.now() - began, leaving.signal));
  } finally {
    clearTimeout(tooLong);
    leaving.abort();
  }
}

function streamingMessage({ isVersion1 }: AgentFacts, text: string): object {
  const messageId = crypto.randomUUID();
  const message = isVersion1
    ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
    : { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] };
  const method = isVersion1 ? 'SendStreamingMessage' : 'message/stream';
  return { jsonrpc: '2.0', id: 1, method, params: { message } };
}

/** The finding for an error instead of a stream: our own error was reported to the operator; of the agent's, only the number is quoted. */
function noStream(site: SiteProbe, status: number, record: unknown): Finding {
  const { error } = Object(record) as { error?: { code?: unknown; data?: unknown } };
  const [info] = [error?.data].flat() as { domain?: unknown }[];
  if (info?.domain === 'agent-bff') return site.failed(STREAMING, AGENT);
  const code = error === undefined ? '' : `, JSON-RPC error ${String(Number(error.code))}`;
  return failed(
    STREAMING,
    `the agent responded with status ${String(status)}${code} instead of a stream`,
    AGENT,
    CHECK_ADDRESS,
  );
}

async function arrivals(body: AsyncIterable<Uint8Array>, now: () => number, signal: AbortSignal): Promise<Arrivals> {
  const events: number[] = [];
  let rest = '';
  let isBroken = false;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (/^event: ?error$/m.test(block)) isBroken = true;
        if (/^data:/m.test(block)) events.push(now());
      }
    }
  } catch {
    isBroken = true;
  }
  return { events, isCut: signal.aborted, isBroken };
}

function evaluate({ events, isCut, isBroken }: Arrivals): Finding {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) {
    return failed(STREAMING, 'the stream ended without an event', AGENT, CHECK_ADDRESS);
  }
  const gaps = events.slice(1).map((at, index) => at - (events[index] ?? at));
  const count = `${String(events.length)} ${events.length === 1 ? 'event' : 'events'}`;
  if (isBroken && !isCut) return failed(STREAMING, `the stream broke after ${count}`, AGENT, LOOK_BETWEEN);
  const message = `first event after ${ms(first)}, ${count}, largest gap ${ms(Math.max(0, ...gaps))}`;
  const still = isCut ? `; still running after ${ms(MAX_STREAM_MS)}` : '';
  if (events.length === 1) return passed(STREAMING, message + still);
  if (last - first > TOGETHER_MS) return passed(STREAMING, `${message}${still}; they arrived one by one`);
  if (first < QUICK_MS) return passed(STREAMING, `${message}; too fast to detect buffering`);
  const lump = 'all at once: a proxy on the way buffers them, or the agent does';
  return warning(STREAMING, `${message}; ${lump}`, AGENT, LOOK_BETWEEN);
}

function ms(time: number): string {
  return `${String(Math.round(time))} ms`;
}
