import { type ChatHandlerOptions, createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import type { IncomingMessage } from 'node:http';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

/** A remembering agent never finishes a task that says this. */
export const WAIT = 'wait for me';
export const SECRET = 'my account number is XQ-4711';
export const MINTED = /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The words of one generation of the protocol. */
export interface Dialect {
  readonly send: string;
  readonly stream: string;
  readonly get: string;
  readonly cancel: string;
  readonly subscribe: string;
  readonly headers: Readonly<Record<string, string>>;
  message(text: string, more?: object): object;
  /** The other `params` of a message; the agent may respond before its task ends. */
  sending(early: boolean): object;
}

export const OLD: Dialect = {
  send: 'message/send',
  stream: 'message/stream',
  get: 'tasks/get',
  cancel: 'tasks/cancel',
  subscribe: 'tasks/resubscribe',
  headers: {},
  message: (text, more) => ({
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  }),
  sending: (early) => ({ configuration: { blocking: !early } }),
};
export const NEW: Dialect = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  get: 'GetTask',
  cancel: 'CancelTask',
  subscribe: 'SubscribeToTask',
  headers: { 'a2a-version': '1.0' },
  message: (text, more) => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more }),
  sending: (early) => (early ? { configuration: { returnImmediately: true } } : {}),
};

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Seen {
  readonly status: number;
  readonly text: string;
  readonly setCookie: readonly string[];
}

/** A person with a browser. */
export class Person {
  readonly #url: string;
  readonly #dialect: Dialect;
  cookie = '';
  user = '';

  constructor(url: string, dialect: Dialect, cookie = '') {
    this.#url = url;
    this.#dialect = dialect;
    this.cookie = cookie;
  }

  async call({ method = 'POST', path = '', body, headers }: Call): Promise<Seen> {
    const response = await fetch(`${this.#url}/api/a2a${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...(this.user === '' ? {} : { 'x-user': this.user }),
        ...this.#dialect.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const setCookie = response.headers.getSetCookie();
    const [pair] = setCookie.map((one) => one.split(';', 1)[0] ?? '');
    if (pair !== undefined) this.cookie = pair;
    return { status: response.status, text: await response.text(), setCookie };
  }

  rpc(method: string, params: unknown): Promise<Seen> {
    return this.call({ body: { jsonrpc: '2.0', id: 'mine', method, params } });
  }

  async say(text: string, more: object = {}): Promise<{ taskId: string; contextId: string; text: string; seen: Seen }> {
    const params = { message: this.#dialect.message(text, more), ...this.#dialect.sending(text.includes(WAIT)) };
    const seen = await this.rpc(this.#dialect.send, params);
    const { result } = JSON.parse(seen.text) as { result?: Record<string, never> };
    const task = (result?.['task'] ?? result ?? {}) as { id?: string; contextId?: string };
    return { taskId: task.id ?? '', contextId: task.contextId ?? '', text: seen.text, seen };
  }
}

/** The user that the test names, as a site takes it from its session. */
export const visitor = (request: IncomingMessage): string | null => {
  const { 'x-user': user } = request.headers;
  return typeof user === 'string' ? user : null;
};

export interface Opened {
  readonly url: string;
  close(): Promise<void>;
}

export async function openSite(
  { a2aUrl }: { readonly a2aUrl: string },
  a2a: ChatHandlerOptions,
  more: ServerConfig = {},
): Promise<Opened> {
  const bindings = ['JSONRPC', 'HTTP+JSON'] as const;
  const toolkit: Toolkit = createToolkit({ a2aUrl, serviceApiKey: 'key', bindings, telemetry: 'silent', ...more });
  const site: Site = await listeningSite(createNodeHandler({ toolkit, a2a }));
  return { url: site.url, close: () => site.close().then(() => toolkit.close()) };
}
