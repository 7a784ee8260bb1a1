import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import type { AgentCardJson } from '../../../src/domain/chat/agent-card.js';
import { readRestCall } from '../../../src/domain/chat/call.js';
import {
  ChatForwarder,
  type ChatForwarderDependencies,
  type ChatHead,
  type ChatRules,
} from '../../../src/domain/chat/chat-forwarder.js';
import { restPath } from '../../../src/domain/chat/rest-paths.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { BrokerWorld, SERVICE, TIMEOUTS } from '../credentials/broker-fixture.js';

export const AGENT = 'https://agent.internal';
const SITE = 'https://site.example/api/a2a';
export const MESSAGE = '{"message":{"parts":[]}}';
/** An agent with one HTTP+JSON interface. */
export const CARD: AgentCardJson = {
  name: 'Agent',
  supportedInterfaces: [
    { url: `${AGENT}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${AGENT}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
};

/** One call; a POST has `MESSAGE` as its body. */
export interface Call {
  readonly head?: Partial<ChatHead> & { readonly query?: string };
  readonly body?: RestBody | undefined;
  readonly policy?: ConstructorParameters<typeof MethodPolicy>[0];
  readonly auth?: RouteAuth;
  readonly options?: Partial<ChatRules>;
}

interface RestBody {
  readonly bytes: Uint8Array;
  readonly type: string;
}

/** The binding in front of an agent with a known card. */
export class RestWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  card: AgentCardJson = CARD;
  /** The versions and callers the card was requested for. */
  readonly cardsAsked: (readonly [version: string, auth: RouteAuth])[] = [];
  readonly #forwarder: ChatForwarder;

  constructor(settings: Partial<ChatForwarderDependencies> = {}) {
    super();
    this.#forwarder = new ChatForwarder({
      call: this.callThrough(this.upstream),
      telemetry: this.telemetry,
      agent: { origin: AGENT, path: '/rpc' },
      card: (version, { auth }) => {
        this.cardsAsked.push([version, auth]);
        return Promise.resolve(this.card);
      },
      timeouts: TIMEOUTS,
      nextTurn: () => Promise.resolve(),
      ...settings,
    });
  }

  ask(
    method: string,
    path: string,
    { head: { query = '', ...head } = {}, policy: methods = 'chat', auth = SERVICE, options, ...given }: Call = {},
  ) {
    const known = restPath(path);
    if (known === undefined) throw new Error(`${path} is none of the binding`);
    const { signal } = new AbortController();
    const body = 'body' in given ? given.body : method === 'POST' ? bodyOf(MESSAGE) : undefined;
    const policy = new MethodPolicy(methods);
    const isStrict = policy.isStrict || options?.metadata !== undefined || options?.conversations !== undefined;
    const call = readRestCall(known, { method, query }, body, isStrict);
    const rewrite = { url: SITE, policy: 'all' as const, bindings: ['JSONRPC', 'HTTP+JSON'] };
    const full = { headers: {}, native: { request: undefined }, signal, ...head };
    return this.#forwarder.forward(call, full, { auth, policy, rewrite, ...options });
  }

  /** Requests a task and gets this response. */
  answered(answer: HttpResponse): Promise<HttpResponse> {
    this.upstream.willAnswer(() => answer);
    return this.ask('GET', '/tasks/7');
  }
}

/** A body as the HTTP layer has read it. */
export function bodyOf(text: string): RestBody {
  return { bytes: new TextEncoder().encode(text), type: 'application/json' };
}
