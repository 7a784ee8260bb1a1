import { createHash } from 'node:crypto';
import {
  FakeClock,
  FakeIdentityProvider,
  FakeSessionTokenSource,
  FakeUpstream,
  RecordingTelemetry,
} from '../../src/adapters/fakes/fakes.js';
import { newRequestId } from '../../src/adapters/telemetry/request-scope.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { processBodies } from '../../src/composition/toolkit/process-wide.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import type { HttpHandler, HttpRequest, HttpResponse, UpstreamOutcome, UpstreamRequest } from '../../src/ports/http.js';
import type { TelemetryEvent } from '../../src/ports/telemetry.js';
import type { LimitVerdict, VisitorLimit } from '../../src/ports/visitor-limit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';

const AGENT = 'https://agent.example';
const JSON_TYPE = { 'content-type': 'application/json' };
const KEY = '00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210';

const CARD = {
  name: 'Agent',
  url: `${AGENT}/a2a`,
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [{ url: `${AGENT}/rest`, transport: 'HTTP+JSON' }],
  supportedInterfaces: [
    { url: `${AGENT}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
    { url: `${AGENT}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' },
  ],
  capabilities: { streaming: true },
  skills: [],
};

const CONFIG: ServerConfig = {
  name: 'site',
  a2aUrl: `${AGENT}/a2a`,
  // Otherwise a warning says that none is chosen.
  conversations: 'open',
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'site-key',
  serviceAuthStrategy: 'okta',
  bindings: ['JSONRPC', 'HTTP+JSON'],
  allowedOrigins: ['https://shop.example'],
  cacheKeys: [KEY],
};

/** An agent and a platform that remember the context of each task. */
class Platform {
  readonly #contexts = new Map<string, string>();
  /** Replaces the responses while it is set. */
  answer: ((request: UpstreamRequest) => HttpResponse | UpstreamOutcome | undefined) | undefined;

  readonly respond = (request: UpstreamRequest): HttpResponse | UpstreamOutcome =>
    this.answer?.(request) ?? (request.origin === AGENT ? this.#agent(request) : platform(request));

  #agent({ method, path, body }: UpstreamRequest): HttpResponse {
    const [place = ''] = path.split('?');
    if (/agent(?:-card)?\.json$|extendedAgentCard$|\/card$/.test(place)) return json(CARD);
    const sent = JSON.parse(read(body) || '{}') as Record<string, never>;
    if (place === '/a2a') {
      const { id, method: name, params } = sent as { id?: unknown; method?: string; params?: object };
      if (/card/i.test(String(name))) return json({ jsonrpc: '2.0', id, result: CARD });
      const result = this.#task(params ?? {});
      const reply = { jsonrpc: '2.0', id, result };
      return /stream|subscribe/i.test(String(name)) ? events(reply) : json(reply);
    }
    const [, id] = /\/tasks\/([^/:]+)/.exec(place) ?? [];
    const task = this.#task(id === undefined ? sent : { id });
    return /:(?:stream|subscribe)$/.test(place) ? events({ task }) : json(method === 'GET' ? task : { task });
  }

  #task(params: { id?: unknown; message?: { contextId?: unknown; taskId?: unknown } }): object {
    const { id, message } = params;
    const taskId = String(id ?? message?.taskId ?? 'task-1');
    if (typeof message?.contextId === 'string') this.#contexts.set(taskId, message.contextId);
    return {
      kind: 'task',
      id: taskId,
      contextId: this.#contexts.get(taskId) ?? 'context-1',
      status: { state: 'working' },
    };
  }
}

function platform({ path }: UpstreamRequest): HttpResponse {
  const css = { status: 200, headers: { 'content-type': 'text/css' }, body: ':root{--a:1px}' };
  if (path.includes('.css')) return css;
  return json({ id: 'proj-7', surface: { id: 's-1', name: 'board' }, ui: 'text' });
}

function json(value: unknown): HttpResponse {
  const body = JSON.stringify(value);
  // A cookie of the agent must not cross.
  const headers = { ...JSON_TYPE, 'content-length': String(body.length), 'set-cookie': 'agent=1' };
  return { status: 200, headers, body };
}

/** A stream of one event. */
export function events(value: unknown): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: pieces(`data: ${JSON.stringify(value)}\n\n`),
  };
}

/** A body in one piece, which may break after it. */
export async function* pieces(text: string, breaksWith?: Error): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield bytes(text);
  if (breaksWith !== undefined) throw breaksWith;
}

function read(body: UpstreamRequest['body']): string {
  if (body === null || typeof body === 'string') return body ?? '';
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : '<stream>';
}

/** The changes of one row to a site. */
export interface Setting {
  readonly config?: ServerConfig;
  /** The verdict of both limiters; absent if the site sets no limits. */
  readonly limit?: (() => Promise<LimitVerdict>) | undefined;
  readonly signedIn?: boolean;
  readonly route: (toolkit: Toolkit, auth: FakeSessionTokenSource) => HttpHandler;
}

/** One request of a row. */
export type Ask = Partial<Omit<HttpRequest, 'body'>> & {
  readonly body?: HttpRequest['body'] | (() => HttpRequest['body']);
};

/** One site on fakes, which writes down what each request did. */
export class AdmissionsWorld {
  readonly platform: Platform = new Platform();
  readonly toolkit: Toolkit;
  readonly #counted: string[] = [];
  readonly #telemetry = new RecordingTelemetry();
  readonly #upstream = new FakeUpstream(this.platform.respond);
  readonly #handler: HttpHandler;
  readonly #glossary: Glossary;
  /** The last value of `Set-Cookie`. */
  cookie = '';

  constructor(glossary: Glossary, { config, limit, signedIn = true, route }: Setting) {
    const session = new FakeSessionTokenSource(
      signedIn
        ? { kind: 'token', accessToken: 'token-of-ada', subject: 'ada', tenant: 'acme' }
        : { kind: 'no-session' },
    );
    this.#glossary = glossary;
    this.toolkit = createToolkit(
      {
        ...CONFIG,
        ...(limit !== undefined && { chatLimit: this.#limit('visitor', limit), userLimit: this.#limit('user', limit) }),
        ...config,
      },
      {
        clock: new FakeClock(),
        upstream: this.#upstream,
        telemetry: this.#telemetry,
        random: () => 0,
        identityProviders: { okta: new FakeIdentityProvider('okta', 'okta') },
      },
    );
    this.#handler = route(this.toolkit, session);
  }

  #limit(name: string, verdict: () => Promise<LimitVerdict>): VisitorLimit {
    const count =
      (what: string) =>
      (_request: unknown, user?: string): Promise<LimitVerdict> => {
        this.#counted.push(user === undefined ? `${name}-${what}` : `${name}-${what}(${user})`);
        return verdict();
      };
    return { admit: count('message'), admitReading: count('reading') };
  }

  /** Sends a request that is no row of the table. */
  async warm(ask: Ask): Promise<void> {
    const { body } = await this.#handler(requestOf(ask));
    await textOf(body);
  }

  /** One request, and everything it did, on one line. */
  async row(ask: Ask): Promise<string> {
    const request = requestOf(ask);
    const held = processBodies(1).heldBytes;
    const [seen, called, counted] = [
      this.#telemetry.events.length,
      this.#upstream.requests.length,
      this.#counted.length,
    ];
    const { status, headers, body } = await this.#handler(request);
    const text = body === null ? 'no body' : await textOf(body).catch(breakOf);
    if (processBodies(1).heldBytes !== held) throw new Error('A request body is still charged.');
    const { 'set-cookie': cookie = '', ...fields } = headers;
    if (cookie !== '') this.cookie = String(cookie);
    const glossary = this.#glossary;
    const events = this.#telemetry.events.slice(seen);
    const calls = this.#upstream.requests.slice(called);
    const parts = [
      `${String(status)} ${glossary.name(labelOf(text), text)} ${glossary.name('fields', JSON.stringify(fields))}`,
      cookie === '' ? '' : ` ${glossary.name('cookie', String(cookie))}`,
      ` counts: ${this.#counted.slice(counted).join(' ') || 'nothing'}`,
      ` events: ${events.map((event) => glossary.name(event.type, eventText(event, request.method))).join(' ') || 'none'}`,
      ` calls: ${calls.map((call) => glossary.name(call.method, callText(call))).join(' ') || 'none'}`,
    ];
    return parts.join('');
  }
}

function requestOf({ body, headers, ...ask }: Ask): HttpRequest {
  const type = body !== undefined && body !== null && JSON_TYPE;
  return browserRequest({
    ...ask,
    headers: { host: 'site.example', cookie: 'session=s3cr3t', ...type, ...headers },
    body: (typeof body === 'function' ? body() : body) ?? null,
  });
}

function breakOf(error: unknown): string {
  return `broken: ${(error as Error).message}`;
}

function callText({ method, origin, path, headers, body }: UpstreamRequest): string {
  return `${method} ${origin}${path} ${JSON.stringify(headers)} ${read(body)}`;
}

/** A request's own method is that of its row. */
function eventText(event: TelemetryEvent, method: string): string {
  return JSON.stringify(event.type === 'request' && event.method === method ? { ...event, method: '<method>' } : event);
}

/** A word for a body: the code of an error, or a kind. */
function labelOf(text: string): string {
  const [, code] = /"code":"(\w+)"/.exec(text) ?? [];
  if (code !== undefined) return code;
  return text.startsWith('data:') ? 'stream' : text.startsWith('{') ? 'json' : text === 'no body' ? 'empty' : 'text';
}

const [ID_PREFIX = ''] = newRequestId().split('-');
const ID = new RegExp(`${ID_PREFIX}-[0-9a-z]+`, 'g');
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<minted>'],
  [/"(visitor|context|task)":"[0-9a-f]{16}"/g, '"$1":"<digest>"'],
  // The request id in a body has any length.
  [/"bytes":[1-9]\d*/g, '"bytes":<n>'],
  [/(agent-bff-visitor(?:-user)?)=s\.[^;]+/g, '$1=<sealed>'],
  [/(agent-bff-visitor(?:-user)?)=[^;<]+/g, '$1=<secret>'],
  [/ {1000,}/g, '<many blanks>'],
  // The line at which a function of the site threw.
  [/\bat [^"]*admissions[\w.-]*\.ts:\d+(?::\d+)?/g, 'at <place>'],
];

/** The texts of a table, each under a short name that depends on nothing but the text. */
export class Glossary {
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  name(label: string, text: string): string {
    const raw = text.replaceAll(ID, '<id>');
    const known = this.#names.get(raw);
    if (known !== undefined) return known;
    const written = REPLACED.reduce((changed, [found, word]) => changed.replaceAll(found, word), raw);
    const name = `${label}-${createHash('sha256').update(written).digest('hex').slice(0, 5)}`;
    if ((this.#texts.get(name) ?? written) !== written) throw new Error(`Two texts are called ${name}.`);
    this.#texts.set(name, written);
    this.#names.set(raw, name);
    return name;
  }

  /** Every text with its name, in the order of the names. */
  lines(): readonly string[] {
    return [...this.#texts].map(([name, text]) => `${name} ${text.replaceAll('\n', String.raw`\n`)}`).toSorted();
  }
}
