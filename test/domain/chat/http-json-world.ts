import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import type { AgentCardJson } from '../../../src/domain/chat/agent-card.js';
import type { AgentCalls, ChatCallOptions } from '../../../src/domain/chat/conversations.js';
import { HttpJsonBinding, type HttpJsonRequest, httpJsonCall } from '../../../src/domain/chat/http-json-binding.js';
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
  readonly head?: Partial<HttpJsonRequest['head']>;
  readonly body?: HttpJsonRequest['body'];
  readonly policy?: ConstructorParameters<typeof MethodPolicy>[0];
  readonly auth?: RouteAuth;
  readonly options?: ChatCallOptions;
}

/** The binding in front of an agent with a known card. */
export class HttpJsonWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream();
  card: AgentCardJson = CARD;
  /** The versions and callers the card was requested for. */
  readonly cardsAsked: (readonly [version: string, auth: RouteAuth])[] = [];
  readonly #binding: HttpJsonBinding;

  constructor(settings: Partial<AgentCalls> = {}) {
    super();
    this.#binding = new HttpJsonBinding({
      call: this.callThrough(this.upstream),
      agent: { origin: AGENT, path: '/rpc' },
      card: (version, { auth }) => {
        this.cardsAsked.push([version, auth]);
        return Promise.resolve(this.card);
      },
      timeouts: TIMEOUTS,
      ...settings,
    });
  }

  ask(method: string, path: string, { head, policy = 'chat', auth = SERVICE, options, ...given }: Call = {}) {
    const call = httpJsonCall(path);
    if (call === undefined) throw new Error(`${path} is none of the binding`);
    const native = { request: undefined };
    const { signal } = new AbortController();
    const body = 'body' in given ? given.body : method === 'POST' ? bodyOf(MESSAGE) : undefined;
    const request = { head: { method, headers: {}, native, query: '', signal, ...head }, call, body };
    const rewrite = { url: SITE, policy: 'all' as const, bindings: ['JSONRPC', 'HTTP+JSON'] };
    return this.#binding.forward(request, auth, new MethodPolicy(policy), rewrite, options);
  }

  /** Requests a task and gets this response. */
  answered(answer: HttpResponse): Promise<HttpResponse> {
    this.upstream.willAnswer(() => answer);
    return this.ask('GET', '/tasks/7');
  }
}

/** A body as the HTTP layer has read it. */
export function bodyOf(text: string): NonNullable<HttpJsonRequest['body']> {
  return { bytes: new TextEncoder().encode(text), type: 'application/json' };
}
