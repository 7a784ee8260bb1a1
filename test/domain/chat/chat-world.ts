import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import {
  ChatForwarder,
  type ChatForwarderDependencies,
  type ChatRequest,
} from '../../../src/domain/chat/chat-forwarder.js';
import { readRpcMessage, type Scrutiny } from '../../../src/domain/chat/chat-message.js';
import type { AgentCardJson } from '../../../src/domain/chat/agent-card.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { BrokerWorld, TIMEOUTS } from '../credentials/broker-fixture.js';

export const MESSAGE = '{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{}}}';

/** A forwarder with a fake agent. */
export class ChatWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  readonly forwarder: ChatForwarder;
  card: AgentCardJson = { name: 'Agent', url: 'https://agent.example/a2a' };

  constructor(
    settings: Partial<ChatForwarderDependencies> = {},
    credentials: ConstructorParameters<typeof BrokerWorld>[0] = {},
  ) {
    super(credentials);
    this.forwarder = new ChatForwarder({
      call: this.callThrough(this.upstream),
      telemetry: this.telemetry,
      agent: { origin: 'https://agent.example', path: '/a2a' },
      timeouts: TIMEOUTS,
      card: () => Promise.resolve(this.card),
      ...settings,
    });
  }
}

export function chatRequest(
  text: string = MESSAGE,
  head: Partial<ChatRequest['head']> = {},
  scrutiny: Scrutiny = 'policy',
): ChatRequest {
  const body = new TextEncoder().encode(text);
  return {
    head: {
      headers: { 'content-type': 'application/json' },
      native: { request: undefined },
      query: '',
      signal: new AbortController().signal,
      ...head,
    },
    body,
    message: readRpcMessage(body, scrutiny),
  };
}

/** A streamed body that records whether its reader cancelled it. */
export class WatchedBody implements AsyncIterable<Uint8Array> {
  ended = false;
  readonly #chunks: readonly Uint8Array[];

  constructor(...chunks: readonly (string | Uint8Array)[]) {
    this.#chunks = chunks.map((chunk) => (typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk));
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const rest = this.#chunks.values();
    return {
      next: () => {
        const { done, value } = rest.next();
        return Promise.resolve(done === true ? { done: true, value: undefined } : { done: false, value });
      },
      return: () => {
        this.ended = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

/** Responds in the given order, then repeats the last response. */
export function inTurn(...answers: readonly HttpResponse[]): () => HttpResponse {
  let turn = 0;
  return () => {
    const answer = answers[Math.min(turn, answers.length - 1)];
    turn += 1;
    if (answer === undefined) throw new Error('no answer');
    return answer;
  };
}
