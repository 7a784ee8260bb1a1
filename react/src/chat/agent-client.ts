import { ChatError, lost, MESSAGES, toChatError } from '../chat-error.js';
import { notARoute, siteError } from '../site-error.js';
import { EventStreamParser } from './event-stream.js';
import { objectOf, objectsOf, parsedJson, textOf } from './json.js';
import { readEvent, type WireEvent, type WireTask } from './wire.js';

/** A file on its way to the agent, its bytes in base64. */
export interface OutgoingFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: string;
}

/** A message for the agent, independent of the protocol version. */
export interface WireRequest {
  readonly id: string;
  readonly contextId: string;
  readonly taskId: string;
  readonly text: string;
  readonly file: OutgoingFile | undefined;
  /** The page context as JSON text. */
  readonly page?: string | undefined;
}

type Call = 'send' | 'stream' | 'get' | 'cancel' | 'subscribe';

/** One way to speak A2A over JSON-RPC. */
interface Dialect {
  readonly methods: Readonly<Record<Call, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: (request: WireRequest) => object;
}

const A2A_0: Dialect = {
  methods: {
    send: 'message/send',
    stream: 'message/stream',
    get: 'tasks/get',
    cancel: 'tasks/cancel',
    subscribe: 'tasks/resubscribe',
  },
  headers: {},
  message: ({ text, file, ...request }) => ({
    kind: 'message',
    role: 'user',
    ...named(request),
    parts: [
      ...(text === '' ? [] : [{ kind: 'text', text }]),
      ...(file === undefined
        ? []
        : [{ kind: 'file', file: { name: file.name, mimeType: file.mediaType, bytes: file.bytes } }]),
    ],
  }),
};

const A2A_1: Dialect = {
  methods: {
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    get: 'GetTask',
    cancel: 'CancelTask',
    subscribe: 'SubscribeToTask',
  },
  headers: { 'A2A-Version': '1.0' },
  message: ({ text, file, ...request }) => ({
    role: 'ROLE_USER',
    ...named(request),
    parts: [
      ...(text === '' ? [] : [{ text }]),
      ...(file === undefined ? [] : [{ raw: file.bytes, filename: file.name, mediaType: file.mediaType }]),
    ],
  }),
};

function named({ id, contextId, taskId, page }: Omit<WireRequest, 'text' | 'file'>): object {
  return {
    messageId: id,
    ...(contextId !== '' && { contextId }),
    ...(taskId !== '' && { taskId }),
    ...metadataOf(page),
  };
}

/** Some agents read the metadata of the message, others that of the params. */
function metadataOf(page: string | undefined): object {
  return page === undefined ? {} : { metadata: { pageContext: JSON.parse(page) as unknown } };
}

/** Milliseconds a first message waits for that of another tab. Some agents only respond once they are done. */
const TURN_MS = 2000;

/**
 * Sends the first message of a conversation after that of another tab has a response. The response may set the
 * visitor's cookie, and a browser keeps only one: with two at once, one conversation would be lost.
 */
async function inTurn(post: () => Promise<Response>): Promise<Response> {
  // Absent on pages without https, and in old browsers.
  const locks = (globalThis.navigator as { locks?: Partial<LockManager> } | undefined)?.locks;
  let posting: Promise<Response> | undefined;
  const begin = (): Promise<Response> => (posting ??= post());
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), TURN_MS);
  // Rejects if the wait is too long or the request fails. A failed request rejects again below.
  await locks?.request?.('agent-bff', { signal: late.signal }, begin).catch(() => undefined);
  clearTimeout(timer);
  return begin();
}

/** Milliseconds to pause after a read that had to wait for the agent. Events read together cost the page less. */
const REST_MS = 40;
/** A long answer is shown less often, so it is also read less often. */
const CHARACTERS_PER_MS = 2500;
const MAX_REST_MS = 400;
const WAITED_MS = 1;
/** Milliseconds after which reading yields to the page between events that arrived together. */
const MAX_TASK_MS = 12;

/** The facts in the agent card that decide how to call the agent. */
export interface CardFacts {
  readonly name: string;
  readonly isOld: boolean;
  /** Undefined without a card. */
  readonly streams: boolean | undefined;
  readonly tenant: string;
}

/** Reads a card of any version; without one, A2A 1.0 is tried first. */
export function readCard(agentCard: unknown): CardFacts {
  const card = objectOf(agentCard);
  if (card === undefined) return { name: '', isOld: false, streams: undefined, tenant: '' };
  const interfaces = objectsOf(card['supportedInterfaces']).filter(
    ({ protocolBinding }) => protocolBinding === undefined || /^json-?rpc$/i.test(textOf(protocolBinding)),
  );
  const modern = interfaces.find(({ protocolVersion }) => !textOf(protocolVersion).startsWith('0.'));
  const isOld = modern === undefined && (interfaces.length > 0 || !/^[1-9]/.test(textOf(card['protocolVersion'])));
  return {
    name: textOf(card['name']),
    isOld,
    streams: objectOf(card['capabilities'])?.['streaming'] === true,
    tenant: textOf((modern ?? interfaces[0])?.['tenant']),
  };
}

/** A JSON-RPC error of the agent itself. */
export class AgentRefusal extends Error {
  override readonly name = 'AgentRefusal';
  readonly code: number;

  constructor(code: number, message: string) {
    super(`The agent responded with error ${code}: ${message}`);
    this.code = code;
  }
}

const METHOD_NOT_FOUND = -32601;
export const TASK_NOT_FOUND = -32001;
const UNSUPPORTED_OPERATION = -32004;
/** Errors of an agent of another version: an invalid request, an unknown method, invalid parameters, an unsupported version. */
const OTHER_VERSION: ReadonlySet<number> = new Set([-32600, METHOD_NOT_FOUND, -32602, -32009]);

/** Speaks A2A 0.2, 0.3 and 1.0 over JSON-RPC, whichever the agent understands. */
export class AgentClient {
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #tenant: string;
  #dialect: Dialect;
  /** True once the agent has understood a call. */
  #isUnderstood = false;
  #streams: boolean;
  #lastId = 0;

  constructor(url: string, fetchImpl: typeof fetch, { isOld, streams, tenant }: Omit<CardFacts, 'name'>) {
    this.#url = url;
    this.#fetch = fetchImpl;
    this.#dialect = isOld ? A2A_0 : A2A_1;
    this.#streams = streams ?? true;
    this.#tenant = tenant;
  }

  /** False for an agent that has no streams. */
  get streams(): boolean {
    return this.#streams;
  }

  /** Sends a message; its events end when the response ends. */
  async *send(request: WireRequest, signal: AbortSignal): AsyncGenerator<WireEvent> {
    if (this.#streams) {
      try {
        return yield* this.#read(await this.#call('stream', request, signal));
      } catch (error) {
        if (!isRefusal(error, METHOD_NOT_FOUND, UNSUPPORTED_OPERATION)) throw error;
        this.#streams = false;
      }
    }
    yield* this.#read(await this.#call('send', request, signal));
  }

  /** Follows a task that an earlier request began. */
  async *subscribe(taskId: string, signal: AbortSignal): AsyncGenerator<WireEvent> {
    yield* this.#read(await this.#call('subscribe', taskId, signal));
  }

  async get(taskId: string, signal: AbortSignal): Promise<WireTask> {
    return this.#task(await this.#call('get', taskId, signal));
  }

  async cancel(taskId: string): Promise<WireTask> {
    return this.#task(await this.#call('cancel', taskId, undefined));
  }

  async #task(response: Response): Promise<WireTask> {
    for await (const event of this.#read(response)) if (event.kind === 'task') return event;
    throw unreadable('no task');
  }

  /** Makes a call, and tries the other version once if the agent rejects this one. */
  async #call(call: Call, subject: WireRequest | string, signal: AbortSignal | undefined): Promise<Response> {
    try {
      return await this.#post(call, subject, signal);
    } catch (error) {
      if (this.#isUnderstood || !isOtherVersion(error)) throw error;
      const first = this.#dialect;
      this.#dialect = first === A2A_0 ? A2A_1 : A2A_0;
      try {
        return await this.#post(call, subject, signal);
      } catch (second) {
        this.#dialect = first;
        // An agent without streams has neither method. Its own error explains more than the one about the other
        // version.
        throw isOtherVersion(second) ? error : second;
      }
    }
  }

  async #post(call: Call, subject: WireRequest | string, signal: AbortSignal | undefined): Promise<Response> {
    const { methods, headers, message } = this.#dialect;
    const params = {
      ...(typeof subject === 'string' ? { id: subject } : { message: message(subject), ...metadataOf(subject.page) }),
      ...(this.#tenant !== '' && this.#dialect === A2A_1 && { tenant: this.#tenant }),
    };
    const post = (): Promise<Response> =>
      this.#fetch(this.#url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method: methods[call], params }),
        signal: signal ?? null,
      });
    const response = await (typeof subject === 'object' && subject.contextId === '' ? inTurn(post) : post());
    if (response.ok && isStream(response)) return response;
    const text = await response.text().catch(lost);
    const body = parsedJson(text);
    const error = objectOf(objectOf(body)?.['error']);
    if (error !== undefined && typeof error['code'] === 'number') throw rpcError(error, response);
    if (!response.ok) throw siteError(objectOf(body), response, text);
    if (objectOf(body)?.['result'] === undefined) throw notARoute(response, 'and not what an agent sends');
    this.#isUnderstood = true;
    return new Response(text, response);
  }

  /** The events of a response, a stream or a single result. */
  async *#read(response: Response): AsyncGenerator<WireEvent> {
    if (!isStream(response)) {
      const text = await response.text().catch(lost);
      const event = readResult(text, response);
      if (event === undefined) throw unreadable(text);
      yield event;
      return;
    }
    const parser = new EventStreamParser();
    const decoder = new TextDecoder();
    const reader = response.body?.getReader?.();
    let unknown: string | undefined;
    let isEmpty = true;
    let length = 0;
    let since = performance.now();
    const rest = async (ms: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      since = performance.now();
    };
    try {
      for (;;) {
        const asked = performance.now();
        // A browser without streams gets the whole text at once.
        const { done, value } = (await reader?.read().catch(lost)) ?? { done: true, value: undefined };
        const text =
          reader === undefined ? await response.text().catch(lost) : decoder.decode(value, { stream: !done });
        length += text.length;
        const hasWaited = performance.now() - asked > WAITED_MS;
        if (hasWaited) since = performance.now();
        for (const data of done ? [...parser.push(text), ...parser.end()] : parser.push(text)) {
          const event = readResult(data, response);
          unknown ??= data;
          if (event === undefined) continue;
          isEmpty = false;
          this.#isUnderstood = true;
          yield event;
          if (performance.now() - since > MAX_TASK_MS) await rest(0);
        }
        // The timers of a hidden page are slow.
        if (!done && hasWaited && globalThis.document?.visibilityState === 'visible')
          await rest(Math.min(REST_MS + length / CHARACTERS_PER_MS, MAX_REST_MS));
        if (!done) continue;
        if (isEmpty && unknown !== undefined) throw unreadable(unknown);
        return;
      }
    } finally {
      await reader?.cancel().catch(() => undefined);
    }
  }
}

/** The event in a JSON-RPC response; undefined for an unknown one. */
function readResult(text: string, response: Response): WireEvent | undefined {
  const body = objectOf(parsedJson(text));
  const error = objectOf(body?.['error']);
  if (error !== undefined) throw rpcError(error, response);
  return readEvent(body?.['result'] ?? body);
}

/** A JSON-RPC error: the site's own, which it marks, or the agent's. */
function rpcError({ code, message, data }: Readonly<Record<string, unknown>>, response: Response): Error {
  const info = objectsOf(data).find(({ domain }) => domain === 'agent-bff');
  if (info === undefined) return new AgentRefusal(Number(code), textOf(message));
  const { code: reason, configBlock: block, requestId, claims } = objectOf(info['metadata']) ?? {};
  return siteError({ code: textOf(reason), detail: textOf(message), block, requestId, claims }, response, '');
}

function isStream({ headers }: Response): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

function isRefusal(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof AgentRefusal && codes.includes(error.code);
}

/** True if a response may be that of an agent of another version. */
function isOtherVersion(error: unknown): boolean {
  if (error instanceof AgentRefusal) return OTHER_VERSION.has(error.code);
  // Some respond to an unknown method with a status only.
  return (
    error instanceof ChatError &&
    (error.reason === undefined || error.reason === 'upstream_error') &&
    [400, 404, 405, 422, 501].includes(error.status ?? 0)
  );
}

/** Converts any failure, such as an error of the agent, to the error that visitors read. */
export function readableError(error: unknown): ChatError {
  if (error instanceof AgentRefusal) return new ChatError('refused', MESSAGES.failed, { cause: error });
  // Thrown by the parser. The long event did arrive, so the connection was not lost.
  if (error instanceof RangeError) return new ChatError('unreadable', MESSAGES.unreadable, { cause: error });
  return toChatError(error);
}

function unreadable(text: string): ChatError {
  const cause = new Error(`The agent sent something that is not an A2A event: ${text.slice(0, 200)}`);
  return new ChatError('unreadable', MESSAGES.unreadable, { cause });
}
