import { expect, vi } from 'vitest';

import { ChatSession } from '../../react/src/chat/chat-session.js';
import type { ChatMessage } from '../../react/src/chat/chat-state.js';
import { isConversation } from '../../react/src/chat/kept-conversation.js';
import { type ChatError, lost } from '../../react/src/chat-error.js';

export const CONFIG = {
  agentCard: { name: 'Agent', capabilities: { streaming: true }, supportedInterfaces: [{ protocolVersion: '1.0' }] },
  brandCss: '',
};
export const task = (state: string, text?: string) => ({
  id: 't1',
  contextId: 'c1',
  status: { state: `TASK_STATE_${state}` },
  artifacts: text === undefined ? [] : [{ artifactId: 'a', parts: [{ text }] }],
});

/** Waits long enough for a busy machine. */
export const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

/** A site whose agent responds with what a test writes. */
export class Site {
  readonly calls: string[] = [];
  /** The contexts of the messages so far. */
  readonly contexts: (string | undefined)[] = [];
  /** The ids of the messages so far. */
  readonly messageIds: (string | undefined)[] = [];
  /** The parts of the messages so far. */
  readonly parts: unknown[] = [];
  readonly errors: ChatError[] = [];
  /** The context of the latest request. */
  signal: AbortSignal | undefined;
  /** The responses of the config route; the last one stays. */
  configs: (() => Response | Promise<Response>)[] = [() => Response.json(CONFIG)];
  readonly #replies: Record<string, (() => Response)[]> = {};
  #write: ((result: object) => void) | undefined;
  #close: (() => void) | undefined;

  on(method: string, ...replies: (() => Response)[]): this {
    this.#replies[method] = replies;
    return this;
  }

  /** A stream that stays open until a test ends it. */
  readonly openStream = (): Response => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        // As in a browser.
        this.signal?.addEventListener('abort', () => controller.error(new DOMException('Aborted', 'AbortError')));
        this.#close = () => controller.close();
        this.#write = (result) => {
          controller.enqueue(
            new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`),
          );
        };
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };

  async write(result: object): Promise<void> {
    await until(() => expect(this.#write).toBeDefined());
    this.#write?.(result);
  }

  /** Writes the last event, and ends the stream. */
  async end(result: object): Promise<void> {
    await this.write(result);
    this.#close?.();
  }

  session(onSignIn?: () => unknown): ChatSession {
    return new ChatSession({
      a2aEndpoint: 'https://site.example/api/a2a',
      configEndpoint: 'https://site.example/api/a2a/config',
      fetch: async (url, init) => {
        init?.signal?.throwIfAborted();
        this.signal = init?.signal ?? undefined;
        if (String(url).endsWith('/config'))
          return (this.configs.length > 1 ? this.configs.shift() : this.configs[0])!();
        const { method, params } = JSON.parse(String(init?.body)) as {
          method: string;
          params: { message?: { contextId?: string; messageId?: string; taskId?: string; parts?: unknown } };
        };
        this.calls.push(method);
        if (params.message !== undefined) {
          this.contexts.push(params.message.contextId);
          this.messageIds.push(params.message.messageId);
          this.parts.push(params.message.parts);
        }
        const replies = this.#replies[method] ?? [];
        const reply = replies.length > 1 ? replies.shift() : replies[0];
        if (reply === undefined) lost(new TypeError('Failed to fetch'));
        return reply();
      },
      taskTimeoutMs: () => 600_000,
      onError: (error) => void this.errors.push(error),
      onSignIn: () => onSignIn,
    });
  }
}

export const result = (value: object) => () => Response.json({ jsonrpc: '2.0', id: 1, result: value });
export const refusal =
  (status: number, code: string, headers = {}) =>
  () =>
    Response.json(
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32603,
          message: 'Set "serviceAuthStrategy".',
          data: [{ domain: 'agent-bff', metadata: { code } }],
        },
      },
      { status, headers },
    );
export const TEXT = { id: 'a/0', type: 'text', text: 'Half an' } as const;

/** The session of the next page in the same tab. */
export function reloaded(site: Site, session: ChatSession): ChatSession {
  const kept: unknown = JSON.parse(JSON.stringify(session.getConversation()));
  if (!isConversation(kept)) throw new Error('It is not what a page reads again.');
  const next = site.session();
  next.restore(kept);
  return next;
}

export const last = (session: ChatSession): ChatMessage | undefined => session.getState().messages.at(-1);

/** The globals of a page in production, for `beforeEach`. */
export function openPage(): () => void {
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('document', { baseURI: 'https://site.example/', visibilityState: 'visible' });
  vi.stubGlobal('location', new URL('https://site.example/'));
  vi.stubEnv('NODE_ENV', 'production');
  return () => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  };
}
