import { type CardInterface, interfacePath, namedVersions } from '../../domain/chat/agent-card.js';
import type { ChatConfigRecord } from '../../domain/chat/chat-config.js';
import { isEventStream } from '../../domain/shared/body.js';
import { parsedJson } from '../../domain/shared/json.js';
import { EVENT_END, eventData } from '../../domain/shared/server-sent-events.js';
import type { Endpoint } from '../../domain/upstream/platform-call.js';
import { LOOKUPS, type LookupName } from '../../domain/upstream/platform-directory.js';
import type { HttpResponse } from '../../ports/http.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { NO_REQUEST } from '../toolkit/toolkit.js';
import { clocks, failed, type Finding, passed, type Suspect, skipped, topLevel, warning } from './finding.js';
import { excerpt, jsonOf, type RpcReply, rpcOf, SiteProbe, type Visit } from './site-probe.js';

/** Optional checks, each of which costs a request of the site. */
export interface Trials {
  /** A surface to render: its id, or `name:` followed by its name; empty for none. */
  readonly surface: string;
  /** A chat message to send; empty for none. */
  readonly message: string;
}

const OK = 200;
const NOT_FOUND = 404;
const CARD = 'agent card';
const SURFACE = 'surface';
const STREAMING = 'streaming';
const PLATFORM = topLevel('serviceApiUrl');
/** The check that tries address and credential of the agent. */
export const TRIAL = 'agent';

/** Visits the site of a configuration: the agent's card, the project, the brand, and the requested trials. */
export async function platformFindings(visit: Visit, { surface, message }: Trials): Promise<readonly Finding[]> {
  const { resolved, begin } = visit;
  const site = new SiteProbe(visit);
  const findings: Finding[] = [];
  const indexOf = (name: string, outcome: Finding['result']): number =>
    findings.findIndex(({ check, result }) => check === name && result === outcome);
  try {
    let agent: AgentFacts | undefined;
    if (resolved.agent !== undefined) {
      begin(CARD);
      agent = await agentCard(site, findings);
      if (agent !== undefined) {
        begin(TRIAL);
        const sent = await trial(site, agent, resolved);
        const isItself = sent.block === ITSELF.block;
        // The message shows more.
        const found: Finding = isItself && message !== '' ? { ...sent, result: 'warning' } : sent;
        const isBroken = found.result === 'failed';
        const tried = isBroken && !isItself ? advised(found, agent.interfaces, resolved.agent) : found;
        // One fault is one line: the refusal says more than a missing card, and a doubtful card that names the address is the fix.
        const card = findings.at(-1)?.result;
        if (isBroken && (card === 'failed' || (card === 'warning' && tried !== found))) findings.pop();
        findings.push(tried, ...(isBroken ? [] : otherAddress(agent.interfaces, resolved.agent)));
        if (isBroken) agent = undefined;
      }
    }
    const isRefused = findings.at(-1)?.result === 'failed' && REFUSED.includes(site.responses.at(-1)?.status);
    const hasApi = !isRefused && resolved.serviceApi !== undefined && (await directory(site, visit, findings));
    if (surface !== '') {
      // Without an address, the site says that itself.
      const isAsked = hasApi || resolved.serviceApi === undefined;
      if (isAsked) begin(SURFACE);
      findings.push(isAsked ? await render(site, surface) : skipped(SURFACE));
    }
    if (message !== '') {
      if (agent !== undefined) begin(STREAMING);
      findings.push(agent === undefined ? skipped(STREAMING) : await streaming(site, agent, message));
    }
    const hasStreamed = indexOf(STREAMING, 'ok') >= 0;
    // The chat works without a card.
    const card = findings[indexOf(CARD, 'failed')];
    if (agent?.hasCard === false && card !== undefined && (hasStreamed || indexOf(TRIAL, 'ok') >= 0)) {
      findings[findings.indexOf(card)] = { ...card, result: 'warning' };
    }
    // A message that was answered replaces the warning that the credential could not be tried.
    const untried = indexOf(TRIAL, 'warning');
    if (hasStreamed && untried >= 0) findings[untried] = passed(TRIAL, 'answers a message');
    findings.push(...clock(site, resolved));
  } finally {
    await site.close();
  }
  return findings;
}

/** Checks project and brand, up to the first failure; the result is true if both were available. */
async function directory(site: SiteProbe, { resolved, begin }: Visit, findings: Finding[]): Promise<boolean> {
  const { serviceProjectId } = resolved;
  const lookupFailed = (check: LookupName): Finding =>
    site.failed(check, topLevel(...LOOKUPS[check].fields), `${check}_unavailable`);
  begin('project');
  const project = await site.toolkit.projectId();
  if (project === null) {
    findings.push(lookupFailed('project'));
    return false;
  }
  findings.push(passed('project', serviceProjectId === '' ? project : `${project}, as configured`));
  begin('brand');
  const brand = await site.toolkit.brandCss();
  if (brand === '' && site.lastTrouble('brand_unavailable') !== undefined) {
    const finding = lookupFailed('brand');
    // If the response is not a style sheet, pages only lose their style; if there is no response, more is wrong.
    const isThere = site.lastTrouble('brand_unavailable')?.detail.includes(' status 200 ') === true;
    findings.push({ ...finding, result: isThere ? 'warning' : 'failed' });
    return isThere;
  }
  findings.push(passed('brand', brand === '' ? 'none' : `a style sheet of ${String(Buffer.byteLength(brand))} bytes`));
  return true;
}

async function render(site: SiteProbe, surface: string): Promise<Finding> {
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
  if (status === OK) return passed(SURFACE, `rendered in ${took}`);
  const { type, code } = Object(body) as { readonly type?: unknown; readonly code?: unknown };
  const isOurs = String(type).startsWith('urn:agent-bff:error:');
  // The platform accepts the caller but does not know the surface, whether or not its message is passed on.
  const isRefusal = !isOurs || (code === 'upstream_error' && status < 500);
  if (!isRefusal && status !== NOT_FOUND) return site.failed(SURFACE, PLATFORM);
  const message = isRefusal
    ? `the platform responded with status ${String(status)} after ${took}`
    : 'no surface can have this name';
  const fix = 'Pass an id or a name that the platform knows to --surface on the command line.';
  return failed(SURFACE, message, { block: 'command line', fields: ['--surface'] }, fix);
}

/** Compares the local clock with the date of the last response. */
function clock({ responses }: SiteProbe, { serviceApi }: ResolvedConfig): readonly Finding[] {
  const last = responses.findLast(({ aheadMs }) => !Number.isNaN(aheadMs));
  const party = serviceApi === undefined ? 'agent' : 'platform';
  return last === undefined ? [] : [clocks(`${party} clock`, last.aheadMs, `the ${party}'s`)];
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

/** Fetches the agent's card through the config route, and returns the facts if there is one. */
async function agentCard(site: SiteProbe, findings: Finding[]): Promise<AgentFacts | undefined> {
  // Agents of version 1 return an older card unless asked; older agents ignore the field.
  let record = await fetchCard(site, true);
  if (record.status !== OK) record = await fetchCard(site, false);
  if (record.status !== OK) {
    findings.push(site.failed(CARD, topLevel('a2aUrl')));
    return undefined;
  }
  const { agentCard: card, supportsStreaming, warnings } = record.body as ChatConfigRecord;
  if (card === null) {
    findings.push(site.failed(CARD, topLevel('a2aUrl', 'agentCardUrl'), 'agent_card_unavailable'));
    return { hasCard: false, isVersion1: true, streams: true, interfaces: [] };
  }
  const versions = [...new Set(namedVersions(card))];
  const { address: cardAddress, interfaces } = await site.toolkit.handlers.cardFacts(record.version, NO_REQUEST);
  const streams = supportsStreaming ? 'streams' : 'does not stream';
  const message = `${JSON.stringify(excerpt(String(card['name']), 60))}, protocol ${versions.join(' and ') || 'without a version'}, ${streams}; found at ${cardAddress}`;
  const fix = `Set "agentCardUrl" in configureServer to ${cardAddress}, or remove it.`;
  if (warnings.includes('agent_card_url_unavailable')) {
    findings.push(warning(CARD, `${message}, not at the configured address`, topLevel('agentCardUrl'), fix));
  } else if (warnings.includes('agent_card_doubtful')) {
    const doubt = 'none of its interfaces has the path of the agent, so it may be the card of another one';
    const sure = `Set "agentCardUrl" in configureServer to ${cardAddress} if it is the card of this agent.`;
    findings.push(warning(CARD, `${message}; ${doubt}`, topLevel('a2aUrl', 'agentCardUrl'), sure));
  } else findings.push(passed(CARD, message));
  return {
    hasCard: true,
    isVersion1: versions.some((version) => version.startsWith('1')),
    streams: supportsStreaming,
    interfaces,
  };
}

const NO_RESPONSE = 0;
const REFUSED: readonly unknown[] = [401, 403];
const MESSAGE: Suspect = { block: 'command line', fields: ['--message'] };
const UNTRIED = 'Try it with a message: npx agent-bff doctor --message "Hello".';

/**
 * Requests a task that does not exist, which costs the agent nothing: with the credential, and without it. The
 * credential counts as tried only if the agent refuses the request without it.
 */
async function trial(site: SiteProbe, agent: AgentFacts, resolved: ResolvedConfig): Promise<Finding> {
  const sent = await unknownTask(site, agent);
  if (sent.isAnswered && REFUSED.includes(sent.status)) return site.failed(TRIAL, AGENT, 'credential_refused');
  if (!sent.isAnswered && [NO_RESPONSE, ...REFUSED, NOT_FOUND, 405, 410].includes(sent.status))
    return site.failed(TRIAL, AGENT);
  if (sent.isAnswered && sent.isFailure)
    return failed(TRIAL, `responds with status ${String(sent.status)}${sent.said}`, ITSELF, LOOK_AT_AGENT);
  if (sent.isForeign && agent.hasCard) {
    if (sent.isOurs) return site.failed(TRIAL, AGENT);
    return failed(TRIAL, `responds with status ${String(sent.status)}, but not in JSON-RPC`, AGENT, CHECK_ADDRESS);
  }
  if (resolved.serviceAuthStrategy === 'none') {
    if (sent.isAnswered) return passed(TRIAL, 'responds, and needs no credential');
    return warning(TRIAL, `responded with status ${String(sent.status)}`, MESSAGE, UNTRIED);
  }
  const bare = site.withoutCredential();
  try {
    const { status } = await unknownTask(bare, agent);
    if (REFUSED.includes(status))
      return passed(TRIAL, `accepts the credential; without it, it responds ${String(status)}`);
  } finally {
    await bare.close();
  }
  const same =
    sent.status < 500
      ? 'the response is the same without it'
      : `the agent responds with status ${String(sent.status)}, also without it`;
  return warning(TRIAL, `the credential was not tried: ${same}`, MESSAGE, UNTRIED);
}

/** The agent's status for a request of an unknown task, and whether the response is one of the protocol. */
async function unknownTask(site: SiteProbe, { isVersion1 }: AgentFacts) {
  const method = isVersion1 ? 'GetTask' : 'tasks/get';
  const before = site.responses.length;
  const response = await site.call(method, { id: crypto.randomUUID() }, { headers: versionField(isVersion1) });
  const reply = await rpcOf(response);
  const { jsonrpc, error, isOurs } = reply;
  const { status = NO_RESPONSE } = site.responses.slice(before).at(-1) ?? {};
  const isAnswered = jsonrpc === '2.0' && !isOurs;
  // A page, a redirect, or JSON of something else.
  const isForeign =
    !isAnswered && (isOurs || error === undefined) && status >= 200 && status < 400 && !isEventStream(response.headers);
  // Others are about the task, the method or its parameters.
  const code = Number(error?.code);
  const isFailure = error !== undefined && !(code >= -32_602 && code <= -32_001);
  return { isAnswered, isForeign, isOurs, isFailure, status, said: saidBy(site, reply) };
}

/** An error in the agent's own words. */
function saidBy(site: SiteProbe, { error: { code, message } = {} }: Pick<RpcReply, 'error'>): string {
  const named = typeof code === 'number' ? `, JSON-RPC error ${String(code)}` : '';
  return typeof message === 'string' ? `${named}: ${site.quoted(message)}` : named;
}

async function fetchCard(site: SiteProbe, isVersion1: boolean) {
  const headers = versionField(isVersion1);
  const response = await site.ask(site.toolkit.handlers.chat({}), { path: '/config', headers });
  return { version: headers['a2a-version'] ?? '', status: response.status, body: await jsonOf(response) };
}

function versionField(isVersion1: boolean): Readonly<Record<string, string>> {
  return isVersion1 ? { 'a2a-version': '1.0' } : {};
}

const AGENT = topLevel('a2aUrl');
const CHECK_ADDRESS = 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.';
/** The agent received the request at its address. */
const ITSELF: Suspect = { block: 'agent', fields: [] };
const LOOK_AT_AGENT =
  'Look at the log of the agent, which received the request; if it needs another credential, correct "serviceAuthStrategy" in configureServer.';
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
    const method = agent.isVersion1 ? 'SendStreamingMessage' : 'message/stream';
    const headers = { accept: 'text/event-stream', ...versionField(agent.isVersion1) };
    const request = { headers, signal: leaving.signal };
    const response = await site.call(method, { message: streamedMessage(agent, text) }, request);
    if (!String(response.headers['content-type']).startsWith('text/event-stream'))
      return await noStream(site, response);
    const body = response.body as AsyncIterable<Uint8Array>;
    const { events, isBroken, refusal } = await arrivals(body, () => performance.now() - began);
    if (refusal === undefined) return evaluate(events, leaving.signal.aborted, isBroken);
    return failed(STREAMING, `the stream has an error${saidBy(site, refusal)}`, ITSELF, LOOK_AT_AGENT);
  } finally {
    clearTimeout(tooLong);
    leaving.abort();
  }
}

function streamedMessage({ isVersion1 }: AgentFacts, text: string): object {
  const messageId = crypto.randomUUID();
  return isVersion1
    ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
    : { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] };
}

/** The finding for an error instead of a stream: our own error was reported to the operator. */
async function noStream(site: SiteProbe, response: HttpResponse): Promise<Finding> {
  const reply = await rpcOf(response);
  if (reply.isOurs) return site.failed(STREAMING, AGENT);
  if (REFUSED.includes(response.status)) return site.failed(STREAMING, AGENT, 'credential_refused');
  const message = `the agent responded with status ${String(response.status)} instead of a stream${saidBy(site, reply)}`;
  const isRpc = reply.jsonrpc === '2.0';
  return failed(STREAMING, message, isRpc ? ITSELF : AGENT, isRpc ? LOOK_AT_AGENT : CHECK_ADDRESS);
}

/** The arrival times of the events in a response, and whether it ended with an error. */
async function arrivals(body: AsyncIterable<Uint8Array>, now: () => number) {
  const events: number[] = [];
  let refusal: Pick<RpcReply, 'error'> | undefined;
  let rest = '';
  let isBroken = false;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split(EVENT_END);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        // The site's own event for a broken stream.
        if (/^event: ?error$/m.test(block)) isBroken = true;
        else if (eventData(block) !== undefined) {
          events.push(now());
          const reply = Object(parsedJson(eventData(block))) as Pick<RpcReply, 'error'>;
          if (typeof reply.error === 'object') refusal ??= reply;
        }
      }
    }
  } catch {
    isBroken = true;
  }
  return { events, isBroken, refusal };
}

/** `isCut`: reading stopped before the end of the response. */
function evaluate(events: readonly number[], isCut: boolean, isBroken: boolean): Finding {
  const count = `${String(events.length)} ${events.length === 1 ? 'event' : 'events'}`;
  if (isBroken && !isCut) return failed(STREAMING, `the stream broke after ${count}`, AGENT, LOOK_BETWEEN);
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) {
    if (isCut) return warning(STREAMING, `no event within ${ms(MAX_STREAM_MS)}`, AGENT, LOOK_BETWEEN);
    return failed(STREAMING, 'the stream ended without an event', ITSELF, LOOK_AT_AGENT);
  }
  const gaps = events.slice(1).map((at, index) => at - (events[index] ?? at));
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

/** A warning if the card of a working agent names another path than the configured one. */
function otherAddress(interfaces: readonly CardInterface[], agent: Endpoint): readonly Finding[] {
  const named = elsewhere(interfaces, agent);
  if (named === undefined) return [];
  const fix = 'Set "a2aUrl" in configureServer to that address, unless a gateway in front of the agent changes paths.';
  const message = `the agent responds, but its card names ${excerpt(named.url)}`;
  return [warning('agent address', message, topLevel('a2aUrl'), fix)];
}

/** The failure of an address that does not speak A2A, with the address in the card. */
function advised(finding: Finding, interfaces: readonly CardInterface[], agent: Endpoint): Finding {
  const named = elsewhere(interfaces, agent);
  if (named === undefined || !URL.canParse(named.url, agent.origin)) return finding;
  const other = interfaces.find(({ url }) => isAt(url, agent));
  const binding = other === undefined ? '' : ` Its card says ${excerpt(other.binding, 20)} for this address.`;
  const fix = `Set "a2aUrl" in configureServer to ${excerpt(named.url)}, which the card names.`;
  return { ...finding, message: finding.message + binding, fix };
}

/** The first JSON-RPC interface of a card, if none has the configured path; the host may differ behind a gateway. */
function elsewhere(interfaces: readonly CardInterface[], agent: Endpoint): CardInterface | undefined {
  const listed = interfaces.filter(({ binding }) => binding === '' || /^json-?rpc$/i.test(binding));
  return listed.some(({ url }) => isAt(url, agent)) ? undefined : listed[0];
}

function isAt(url: string, agent: Endpoint): boolean {
  return interfacePath(url, agent) === interfacePath(agent.path, agent);
}
