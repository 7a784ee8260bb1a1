import { setImmediate } from 'node:timers/promises';
import { visitorCrypto } from '../../../src/adapters/keyv/visitor-crypto.js';
import type { ChatHead, ChatRules } from '../../../src/domain/chat/chat-forwarder.js';
import { ConversationGuard, type Visitor } from '../../../src/domain/chat/conversation-guard.js';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import { type ContextScope, MintedContexts, type VisitorKey } from '../../../src/domain/chat/minted-contexts.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import { chatRequest, ChatWorld } from './chat-world.js';
import { bodyOf, RestWorld } from './rest-world.js';

const AGENT = 'https://agent.example/a2a';
/** The account of the fake service credential. */
const ACCOUNT = JSON.stringify(['service', 'service_account', JSON.stringify(['serviceAccount', 'account'])]);

/** A response in JSON. */
export function json(status: number, value: unknown): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** Memory for request bodies, and its highest use. */
class FakeBodies {
  used = 0;
  most = 0;

  hold(bytes: number) {
    this.used += bytes;
    this.most = Math.max(this.most, this.used);
    return { release: () => void (this.used -= bytes) };
  }
}

/** An agent that knows tasks, behind a site that lets visitors into their own conversations only; in both bindings. */
export class VisitedWorld {
  readonly rpc: ChatWorld = new ChatWorld();
  readonly rest: RestWorld = new RestWorld();
  /** The context of each task of the agent. */
  readonly tasks: Map<string, string> = new Map<string, string>();
  /** Every call that reached the agent, oldest first: its method, or its address, and its params. */
  readonly calls: string[] = [];
  /** Replaces the agent's response to the next look-ups of a task. */
  lookup: (() => HttpResponse) | undefined;
  /** The memory for tasks that are read. */
  readonly bodies: FakeBodies = new FakeBodies();
  readonly #contexts = new MintedContexts(visitorCrypto);
  readonly guard: ConversationGuard = new ConversationGuard({
    contexts: this.#contexts,
    errors: this.rpc.errors,
    telemetry: this.rpc.telemetry,
    agent: AGENT,
    bodies: this.bodies,
    nextTurn: () => setImmediate(),
  });

  constructor() {
    this.rpc.upstream.willAnswer((request) => this.#rpc(request));
    this.rest.upstream.willAnswer((request) => this.#rest(request));
  }

  /** A visitor by name. */
  visitor(user: string, settings: Partial<Visitor> = {}): Person {
    return new Person(this, { kind: 'user', user, key: new Uint8Array(32).fill(7) }, settings);
  }

  /** A context that was minted for a visitor of this site, with the site's own credential. */
  mint(key: VisitorKey, scope: Partial<ContextScope>): string {
    return this.#contexts.mint(key, { agent: AGENT, tenant: '', account: ACCOUNT, ...scope });
  }

  #rpc({ body }: UpstreamRequest): HttpResponse {
    const { method, params } = JSON.parse(text(body)) as { method: string; params: { id?: string } };
    this.calls.push(`${method} ${JSON.stringify(params)}`);
    const card = { name: 'Agent', url: AGENT };
    const result = method === 'GetExtendedAgentCard' ? card : {};
    if (!/GetTask|tasks\/get/.test(method)) return json(200, { jsonrpc: '2.0', id: 1, result });
    const contextId = this.tasks.get(String(params.id));
    const found = contextId === undefined ? { error: { code: -32001 } } : { result: { id: params.id, contextId } };
    return this.lookup?.() ?? json(200, { jsonrpc: '2.0', id: 1, ...found });
  }

  #rest({ method, path, body }: UpstreamRequest): HttpResponse {
    this.calls.push(`${method} ${path}${text(body)}`);
    const [, id] = /\/tasks\/([^/:?]+)(?:\?|$)/.exec(path) ?? [];
    if (id === undefined) return json(200, {});
    const contextId = this.tasks.get(decodeURIComponent(id));
    const found = contextId === undefined ? json(404, {}) : json(200, { id: decodeURIComponent(id), contextId });
    return this.lookup?.() ?? found;
  }
}

function text(body: UpstreamRequest['body']): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : '';
}

/** Settings of one call. */
export interface Settings extends Pick<ChatRules, 'metadata' | 'tenant' | 'visitor'> {
  readonly head?: Partial<ChatHead> & { readonly query?: string };
  readonly auth?: RouteAuth;
  /** Members of the envelope, as JSON. */
  readonly more?: string;
}

/** One visitor of the site. */
export class Person {
  /** Counts the look-ups of tasks. */
  lookups = 0;
  readonly key: VisitorKey;
  readonly #world: VisitedWorld;
  readonly #conversations: ChatRules['conversations'];

  constructor(world: VisitedWorld, key: VisitorKey, settings: Partial<Visitor>) {
    this.#world = world;
    this.key = key;
    const countLookup = (): Promise<void> => {
      this.lookups += 1;
      return Promise.resolve();
    };
    this.#conversations = world.guard.of({ keys: [key], owns: undefined, countLookup, ...settings });
  }

  /** A new context of this visitor, with a task of that id. */
  begun(taskId: string = 'task-1', scope: Partial<ContextScope> = {}): string {
    const contextId = this.#world.mint(this.key, scope);
    this.#world.tasks.set(taskId, contextId);
    return contextId;
  }

  /** Calls a method in JSON-RPC. */
  async call(method: string, params: object, { head = {}, auth = SERVICE, more = '', ...options }: Settings = {}) {
    const written = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${JSON.stringify(params)}${more}}`;
    return this.#world.rpc.forward(chatRequest(written, head), auth, new MethodPolicy('all'), this.#options(options));
  }

  /** Sends a message with these members. */
  send(message: object, settings?: Settings) {
    return this.call('SendMessage', { message: { role: 'ROLE_USER', ...message } }, settings);
  }

  /** Calls HTTP+JSON; a POST has the params as its body. */
  async rest(method: string, path: string, params?: object, { head, auth = SERVICE, ...options }: Settings = {}) {
    const body = params && bodyOf(JSON.stringify(params));
    const more = { auth, policy: 'all' as const, options: this.#options(options), ...(head && { head }) };
    return this.#world.rest.ask(method, path, { body, ...more });
  }

  #options(options: Partial<ChatRules>): Partial<ChatRules> {
    return { conversations: this.#conversations, tenant: 'acme', ...options };
  }
}
