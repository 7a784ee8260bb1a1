import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import {
  ChatForwarder,
  type ChatForwarderDependencies,
  type ChatHead,
  type ChatRules,
} from '../../../src/domain/chat/chat-forwarder.js';
import { type A2ACall, readRpcCall } from '../../../src/domain/chat/call.js';
import type { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { AgentCardJson } from '../../../src/domain/chat/agent-card.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { BrokerWorld, TIMEOUTS } from '../credentials/broker-fixture.js';

export const MESSAGE = '{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{}}}';

export const SITE = 'https://site.example/api/a2a';

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
      nextTurn: () => Promise.resolve(),
      ...settings,
    });
  }

  forward({ call, head }: ChatRequest, auth: RouteAuth, policy: MethodPolicy, options: Partial<ChatRules> = {}) {
    return this.forwarder.forward(call, head, { auth, policy, rewrite: { url: SITE }, ...options });
  }
}

/** A call in JSON-RPC, and its request. */
export interface ChatRequest {
  readonly call: A2ACall;
  readonly head: ChatHead;
}

export function chatRequest(
  text: string = MESSAGE,
  { query = '', ...head }: Partial<ChatHead> & { readonly query?: string } = {},
  isStrict: boolean = true,
): ChatRequest {
  const { signal } = new AbortController();
  return {
    head: { headers: { 'content-type': 'application/json' }, native: { request: undefined }, signal, ...head },
    call: readRpcCall(new TextEncoder().encode(text), query, isStrict),
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
