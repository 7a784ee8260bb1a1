/** A made-up agent, read as the chat reads one, without a page. */
import { AgentClient, readCard, type WireRequest } from '../../react/src/chat/agent-client.js';
import { type Answer, emptyAnswer, type SeenBefore } from '../../react/src/chat/answer.js';
import { partsOfAnswer } from '../../react/src/chat/answer-events.js';
import { AnswerReader, type ReaderClock } from '../../react/src/chat/answer-reader.js';
import { textOfParts } from '../../react/src/chat/message-parts.js';
import { lost } from '../../react/src/chat-error.js';

/** One response of a made-up agent: the results of a stream, one result, an error, or a connection that breaks after some. */
export type Reply =
  | { stream: readonly unknown[]; breaks?: boolean }
  | { result: unknown }
  | { error: { code: number; message: string }; status?: number }
  | { text: string; type?: string; status?: number; headers?: Record<string, string> }
  | { throws: Error };

export const GONE: Reply = { text: '', status: 0 };

export class Agent {
  readonly calls: string[] = [];
  readonly versions: (string | null)[] = [];
  readonly params: Record<string, unknown>[] = [];
  readonly pauses: number[] = [];
  readonly reconnecting: boolean[] = [];
  readonly states: string[] = [];
  answer!: Answer;
  readonly #replies: Record<string, readonly Reply[]>;

  constructor(replies: Record<string, Reply | readonly Reply[]>) {
    this.#replies = Object.fromEntries(Object.entries(replies).map(([method, reply]) => [method, [reply].flat()]));
  }

  async ask(
    { card = CARD_1, taskId = '', seen, text = 'Hello' }: Partial<Question> = {},
    timeoutMs = 600_000,
  ): Promise<Answer> {
    await this.#reader(card, emptyAnswer('m1', taskId, '', seen), timeoutMs).send({ ...REQUEST, taskId, text });
    return this.answer;
  }

  async resume(answer: Answer, timeoutMs = 600_000): Promise<Answer> {
    await this.#reader(CARD_1, answer, timeoutMs).resume();
    return this.answer;
  }

  /** The text of each part, by its type. */
  get shown(): string[] {
    return partsOfAnswer(this.answer).map((part) => {
      const text = textOfParts([part]) || ('text' in part ? part.text : '');
      return part.type === 'text' ? text : `${part.type}: ${text}`;
    });
  }

  #reader(card: unknown, answer: Answer, timeoutMs: number): AnswerReader {
    let nowMs = 0;
    this.answer = answer;
    const clock: ReaderClock = {
      now: () => nowMs,
      pause: async (ms) => {
        this.pauses.push(ms);
        nowMs += ms;
      },
      visible: async () => undefined,
    };
    const client = new AgentClient('https://site.example/api/a2a', this.#fetch, readCard(card));
    const listener = {
      onAnswer: (grown: Answer) => {
        this.answer = grown;
        this.states.push(grown.state);
      },
      onReconnecting: (isReconnecting: boolean) => void this.reconnecting.push(isReconnecting),
    };
    return new AnswerReader(client, answer, timeoutMs, listener, new AbortController().signal, clock);
  }

  readonly #fetch: typeof fetch = async (_url, init) => {
    const { id, method, params } = JSON.parse(String(init?.body)) as { id: number; method: string; params: never };
    const replies = this.#replies[method] ?? [{ error: { code: -32601, message: `No ${method}` } }];
    const reply = replies[Math.min(this.calls.filter((call) => call === method).length, replies.length - 1)] ?? GONE;
    this.calls.push(method);
    this.versions.push(new Headers(init?.headers).get('a2a-version'));
    this.params.push(params);
    if (reply === GONE) lost(new TypeError('Failed to fetch'));
    if ('throws' in reply) throw reply.throws;
    return response(reply, id);
  };
}

interface Question {
  card: unknown;
  taskId: string;
  seen: SeenBefore;
  text: string;
}

const REQUEST: WireRequest = { id: 'm1', contextId: '', taskId: '', text: 'Hello', file: undefined };

function response(reply: Exclude<Reply, { throws: Error }>, id: number): Response {
  if ('text' in reply)
    return new Response(reply.text, {
      status: reply.status ?? 200,
      headers: { 'content-type': reply.type ?? 'text/event-stream', ...reply.headers },
    });
  if ('error' in reply)
    return Response.json({ jsonrpc: '2.0', id, error: reply.error }, { status: reply.status ?? 200 });
  if ('result' in reply) return Response.json({ jsonrpc: '2.0', id, result: reply.result });
  const events = reply.stream.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, ...bodyOf(result) })}\n\n`);
  const chunks = events.values();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = chunks.next();
      if (done !== true) controller.enqueue(new TextEncoder().encode(value));
      else if (reply.breaks === true) controller.error(new TypeError('network error'));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

function bodyOf(result: unknown): object {
  return typeof result === 'object' && result !== null && 'error' in result ? result : { result };
}

export const CARD_1 = {
  name: 'Agent',
  capabilities: { streaming: true },
  supportedInterfaces: [{ url: '/api/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
};
export const CARD_03 = { name: 'Agent', url: '/api/a2a', protocolVersion: '0.3.0', capabilities: { streaming: true } };
export const SILENT_CARD = { ...CARD_1, capabilities: {} };

// Events as A2A 1.0 writes them.
export const words = (text: string, messageId = text) => ({ messageId, role: 'ROLE_AGENT', parts: [{ text }] });
export const own = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
export const status = (state: string, text?: string, messageId?: string) => ({
  state: `TASK_STATE_${state}`,
  ...(text !== undefined && { message: words(text, messageId) }),
});
export const task = (state: string, more: object = {}, text?: string) => ({
  task: { id: 't1', contextId: 'c1', status: status(state, text), ...more },
});
export const update = (state: string, text?: string, messageId?: string) => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: status(state, text, messageId) },
});
export const artifact = (text: string, append = false, artifactId = 'a1') => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', append, artifact: { artifactId, parts: [{ text }] } },
});
export const whole = (...texts: string[]) => ({
  artifacts: [{ artifactId: 'a1', parts: texts.map((text) => ({ text })) }],
});
export const got = (state: string, more: object = {}, text?: string): Reply => ({
  result: task(state, more, text).task,
});
