import { FakeSessionTokenSource, FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import {
  ChatConfig,
  type ChatConfigDependencies,
  type ChatConfigRecord,
  type ChatEndpoint,
} from '../../../src/domain/chat/chat-config.js';
import { Credential } from '../../../src/domain/credentials/credential.js';
import type { HttpResponse, UpstreamRequest } from '../../../src/ports/http.js';
import { BrokerWorld, nameOf, ownedBy, REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { FakeDeadlines } from '../upstream/fake-deadlines.js';
import { memoryOf } from '../../support/memory.js';

export const CARD = {
  name: 'Agent',
  url: 'https://agent.internal/v1/a2a',
  capabilities: { streaming: true, pushNotifications: true },
};
export const ENTRANCE: ChatEndpoint = {
  url: 'https://site.example/api/a2a',
  path: '/api/a2a',
  policy: { allows: () => true },
  bindings: ['JSONRPC'],
};
/** The address below the agent's path. */
export const NEAR = '/v1/a2a/.well-known/agent-card.json';
/** Every card address of `/v1/a2a/`, nearest first. */
export const ADDRESSES = [
  NEAR,
  '/v1/a2a/.well-known/agent.json',
  '/.well-known/a2a/agent-card.json',
  '/v1/.well-known/agent-card.json',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
];
/** At the root of the agent's host. */
export const FAR = '/.well-known/agent-card.json';
export const NOT_FOUND: HttpResponse = { status: 404, headers: {}, body: 'no' };

export const served = (card: unknown = CARD, headers: Record<string, string> = {}): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof card === 'string' ? card : JSON.stringify(card),
});

/** An agent with its card at `FAR` by default. */
export class ConfigWorld extends BrokerWorld {
  readonly upstream: FakeUpstream = new FakeUpstream(at(FAR, served()));
  readonly asked: Credential[] = [];
  readonly deadlines: FakeDeadlines = new FakeDeadlines();
  readonly config: ChatConfig;

  constructor(
    settings: Partial<ChatConfigDependencies> = {},
    credentials: ConstructorParameters<typeof BrokerWorld>[0] = {},
  ) {
    super(credentials);
    this.config = new ChatConfig({
      clock: this.clock,
      call: this.callThrough(this.upstream),
      agent: { origin: 'https://agent.example', path: '/v1/a2a/' },
      cardAddress: undefined,
      mediaOrigins: [],
      telemetry: this.telemetry,
      directory: {
        project: ({ credential }) => {
          this.asked.push(credential);
          return Promise.resolve({ value: 'proj-1' });
        },
        brand: () => Promise.resolve({ value: ':root{}' }),
      },
      hash: (text) => `#${text}`,
      timeouts: { headersMs: 10_000, bodyIdleMs: 5_000 },
      lookupMs: 10_000,
      deadline: this.deadlines.start,
      memory: memoryOf(this.clock),
      ...settings,
    });
  }

  read(version = '', auth: Parameters<ChatConfig['record']>[2] = SERVICE): Promise<ChatConfigRecord> {
    return this.config.record(version, REQUEST, auth, ENTRANCE);
  }

  /** The card alone, as third-party clients fetch it. Throws if there is none. */
  card(version = '', auth: Parameters<typeof this.read>[1] = SERVICE): Promise<ChatConfigRecord['agentCard']> {
    return this.config.agentCard(version, REQUEST, auth, ENTRANCE);
  }

  /** Requests to the nearest address: one per search, and one per revalidation there. */
  get near(): readonly UpstreamRequest[] {
    return this.upstream.requests.filter(({ path }) => path === NEAR);
  }

  get paths(): string[] {
    return this.upstream.requests.map(({ path }) => path);
  }
}

export function at(path: string, answer: HttpResponse, otherwise: HttpResponse = NOT_FOUND) {
  return (request: UpstreamRequest): HttpResponse => (request.path === path ? answer : otherwise);
}

export function session(subject?: string) {
  const found = { kind: 'token', accessToken: `token-of-${subject ?? 'somebody'}` } as const;
  const source = new FakeSessionTokenSource(subject === undefined ? found : { ...found, subject });
  return {
    kind: 'session',
    source,
    nameOf,
    audience: '',
    apiKey: undefined,
    required: true,
  } as unknown as typeof SERVICE;
}

export function credentialOf(headers: Record<string, string>): Credential {
  return new Credential({
    kind: 'session',
    headers,
    owner: ownedBy(JSON.stringify(headers)),
    block: 'getHeaders',
  });
}
