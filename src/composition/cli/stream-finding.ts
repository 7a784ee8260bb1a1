import type { AgentFacts } from './card-findings.js';
import { type SiteProbe, jsonOf } from './site-probe.js';
import { failed, type Finding, passed, type Place, skipped, topLevel, warning } from './finding.js';

/** When the events of a response came, in milliseconds since the message was sent. */
interface Arrivals {
  readonly events: readonly number[];
  /** Whether the response was left before its end. */
  readonly isCut: boolean;
}

const CHECK = 'streaming';
const AGENT = topLevel('a2aUrl');
const CHECK_ADDRESS = 'Check "a2aUrl" in configureServer: it has to be the JSON-RPC endpoint of the agent.';
const LOOK_BETWEEN =
  'Look at the agent and at the proxies before it, which must neither buffer nor cut streams, or correct "a2aUrl" in configureServer.';
const MAX_MS = 60_000;
/** A response that is there sooner tells nothing about who held it back. */
const QUICK_MS = 300;
/** Events that come within this time of each other came together. */
const TOGETHER_MS = 20;

/** Sends one streaming message, and says when the events of its response came. */
export async function streaming(site: SiteProbe, agent: AgentFacts, text: string, credential: Place): Promise<Finding> {
  if (!agent.streams) return skipped(CHECK, 'the agent does not promise it');
  const leaving = new AbortController();
  const tooLong = setTimeout(() => leaving.abort(), MAX_MS);
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
      return noStream(site, status, await jsonOf(response), credential);
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

/** An error in place of a stream: ours was told to the operator, of the agent's only the number is said. */
function noStream(site: SiteProbe, status: number, record: unknown, credential: Place): Finding {
  const { error } = Object(record) as { error?: { code?: unknown; data?: unknown } };
  const [info] = [error?.data].flat() as { domain?: unknown }[];
  if (info?.domain === 'agent-bff') return site.failed(CHECK, AGENT, credential);
  const code = error === undefined ? '' : `, JSON-RPC error ${String(Number(error.code))}`;
  return failed(CHECK, `the agent responds ${String(status)}${code} in place of a stream`, AGENT, CHECK_ADDRESS);
}

async function arrivals(
  body: AsyncIterable<Uint8Array>,
  now: () => number,
  signal: AbortSignal,
): Promise<Arrivals & { readonly broken: boolean }> {
  const events: number[] = [];
  let rest = '';
  let broken = false;
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        if (/^event: ?error$/m.test(block)) broken = true;
        if (/^data:/m.test(block)) events.push(now());
      }
    }
  } catch {
    broken = true;
  }
  return { events, isCut: signal.aborted, broken };
}

function evaluate({ events, isCut, broken }: Arrivals & { readonly broken: boolean }): Finding {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) {
    return failed(CHECK, 'the stream ended without an event', AGENT, CHECK_ADDRESS);
  }
  const gaps = events.slice(1).map((at, index) => at - (events[index] ?? at));
  const count = `${String(events.length)} ${events.length === 1 ? 'event' : 'events'}`;
  if (broken && !isCut) return failed(CHECK, `the stream broke after ${count}`, AGENT, LOOK_BETWEEN);
  const message = `first event after ${ms(first)}, ${count}, largest gap ${ms(Math.max(0, ...gaps))}`;
  const still = isCut ? `; still running after ${ms(MAX_MS)}` : '';
  if (events.length === 1) return passed(CHECK, message + still);
  if (last - first > TOGETHER_MS) return passed(CHECK, `${message}${still}; they came one by one`);
  if (first < QUICK_MS) return passed(CHECK, `${message}; too quick to tell whether they were held back`);
  const lump = 'all in one lump: a proxy on the way holds them back, or the agent does';
  return warning(CHECK, `${message}; ${lump}`, AGENT, LOOK_BETWEEN);
}

function ms(time: number): string {
  return `${String(Math.round(time))} ms`;
}
