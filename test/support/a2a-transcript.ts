import type { Forwarder, HeardRequest } from './forwarder.js';
import type { Connect, Talk } from './a2a-generations.js';

/** The target of a client: the agent itself, or a site. */
export interface Front {
  /** The agent card of the target, for a client of this version. */
  readonly card: (version: string | null) => Promise<unknown>;
  /** Header fields added to the client's requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Everything a client and its agent received in one conversation, with ids and times replaced. */
export interface Transcript {
  /** The client's results, by scene. */
  readonly answers: Readonly<Record<string, string>>;
  /** The bytes on the wire, for scenes without pauses. */
  readonly wire: readonly string[];
  /** The requests to the agent. */
  readonly heard: readonly string[];
}

/** A conversation to record. */
export interface Recording {
  readonly connect: Connect;
  readonly front: Front;
  /** Records every request to the agent. */
  readonly agent: Forwarder;
  /** The number of streams that the agent is writing. */
  readonly openStreams: () => number;
  /** Replaces the global `fetch`, which the clients call. */
  readonly replaceFetch: (replacement: typeof fetch) => void;
}

const realFetch = fetch;
/** Header fields of a client with extensions, in both spellings, and of an SSE client that reconnects. */
const EXTRA = {
  'a2a-extensions': 'https://example.com/ext/1, https://example.com/ext/2',
  'x-a2a-extensions': 'https://example.com/ext/1',
  'last-event-id': '7',
};
const FILE = { name: 'noise.bin', mediaType: 'application/octet-stream', bytes: Buffer.alloc(50_000, 'noise!') };

/** Runs every scene with a client and records it. */
export async function transcript(recording: Recording): Promise<Transcript> {
  const { connect, front, agent, openStreams, replaceFetch } = recording;
  const wire: Promise<string>[] = [];
  const firstRequest = agent.heard.length;
  replaceFetch(tapped(front, wire));
  const talk = await connect('http://agent.example');
  const answers: Record<string, string> = {};
  const scene = async (name: string, play: () => Promise<unknown>): Promise<unknown> => {
    const seen = await play().catch((error: unknown) => ({ thrown: String(error) }));
    answers[name] = normal(JSON.stringify(seen, plain));
    return seen;
  };

  const sent = await scene('send', () => talk.send({ text: 'Hello there' }));
  await scene('get', async () => talk.get(taskIdIn(sent)));
  await scene('stream', () => streamed(talk, 'Hello there', openStreams));
  await scene('file', () => talk.send({ text: 'Look', file: FILE }));
  await scene('failure', () => talk.send({ text: 'fail' }));
  await scene('input', () => all(talk.stream({ text: 'input' })));
  await scene('unknown task', () => talk.get('no-such-task'));
  const swift = (await Promise.all(wire)).map(normal);
  await scene('cancel', () => cancelled(talk));
  await scene('resubscribe', () => resubscribed(talk));
  await Promise.all(wire);
  const heard = agent.heard.slice(firstRequest).filter(({ method }) => method === 'POST');
  return { answers, wire: swift, heard: heard.map(told) };
}

function tapped({ card, headers }: Front, wire: Promise<string>[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (request.url.includes('/.well-known/')) return Response.json(await card(request.headers.get('a2a-version')));
    for (const [name, value] of Object.entries({ ...EXTRA, ...headers })) request.headers.set(name, value);
    const response = await realFetch(request);
    const copy = response.clone();
    const fields = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'content-encoding'];
    const head = [copy.status, ...fields.map((name) => `${name}: ${copy.headers.get(name) ?? 'none'}`)].join('\n');
    wire.push(
      copy.text().then(
        (text) => `${head}\n\n${text}`,
        (error: unknown) => `${head}\n\nbroken: ${String(error)}`,
      ),
    );
    return response;
  };
}

/** All events, and the number of streams the agent was writing when the first one arrived. */
async function streamed(talk: Talk, text: string, openStreams: () => number): Promise<unknown> {
  const events: unknown[] = [];
  let openAtFirst: number | undefined;
  for await (const event of talk.stream({ text })) {
    openAtFirst ??= openStreams();
    events.push(event);
  }
  return { openAtFirst, events };
}

/** The progress of a task before it was stopped depends on timing, so its text is left out. */
async function cancelled(talk: Talk): Promise<unknown> {
  const events: unknown[] = [];
  let answer: unknown;
  for await (const event of talk.stream({ text: 'slow' })) {
    events.push(event);
    if (events.length === 3) answer = await talk.cancel(taskIdIn(event));
  }
  return timeless([...events.slice(0, 3), answer, events.at(-1)]);
}

async function resubscribed(talk: Talk): Promise<unknown> {
  let taskId = '';
  for await (const event of talk.stream({ text: 'slow' })) {
    taskId = taskIdIn(event);
    if (JSON.stringify(event).includes('artifactId')) break;
  }
  const events: unknown[] = [];
  let answer: unknown;
  for await (const event of talk.resubscribe(taskId)) {
    events.push(event);
    if (events.length === 2) answer = await talk.cancel(taskId);
  }
  return timeless([...events.slice(0, 2), answer, events.at(-1)]);
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = [];
  for await (const value of values) list.push(value);
  return list;
}

/** The task id in a result of any generation. */
function taskIdIn(answer: unknown): string {
  const text = JSON.stringify(answer, plain);
  const id = /"taskId":"([^"]+)"/.exec(text)?.[1] ?? /"id":"([0-9a-f-]{36})"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`no task in ${text}`);
  return id;
}

function timeless(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part: unknown) => {
      if (name === 'artifacts' || name === 'history') return undefined;
      return (name === 'text' || name === 'value') && typeof part === 'string' ? '…' : part;
    }),
  );
}

function plain(_name: string, value: unknown): unknown {
  const bytes = value as { type?: unknown; data?: number[] } | null;
  return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString('base64') : value;
}

/** Replaces ids by their order of appearance, and times by their position. */
function normal(text: string): string {
  const ids: string[] = [];
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `<id ${String(ids.indexOf(id))}>`;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

function told({ method, target, headers, body }: HeardRequest): string {
  return normal(`${method} ${target}\n${JSON.stringify(headers)}\n\n${body}`);
}
