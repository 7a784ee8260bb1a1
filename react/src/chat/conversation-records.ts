import { checkStatus, readJson } from '../site-fetch.js';
import type { ChatMessage } from './chat-state.js';
import { objectsOf, textOf } from './json.js';

/** A conversation in the list of records. */
export interface ConversationEntry {
  /** The A2A context id. */
  readonly id: string;
  readonly title: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/** The signed-in user's conversation records (`/api/service`). */
export class ConversationRecords {
  readonly #address: string;
  readonly #fetch: typeof fetch;

  constructor(serviceBaseUrl: string, siteFetch: typeof fetch) {
    this.#address = `${serviceBaseUrl}/conversations`;
    this.#fetch = siteFetch;
  }

  /** Newest first. */
  async list(): Promise<readonly ConversationEntry[]> {
    const response = await this.#fetch(this.#address);
    const { conversations } = await readJson<{ conversations: unknown }>(response, 'conversations');
    return objectsOf(conversations).flatMap(({ id, title, updatedAt }) =>
      typeof id === 'string' ? { id, title: textOf(title), updatedAt: textOf(updatedAt) } : [],
    );
  }

  /** The messages of one conversation, oldest first. */
  async read(id: string): Promise<readonly ChatMessage[]> {
    const response = await this.#fetch(this.#addressOf(id));
    const { messages } = await readJson<{ messages: unknown }>(response, 'messages');
    return objectsOf(messages).map(({ role, text }, index) => {
      const message = { id: `${id}-${index}`, text: textOf(text) };
      return role === 'user' ? { ...message, role } : { ...message, role: 'agent', state: 'complete' };
    });
  }

  async delete(id: string): Promise<void> {
    await checkStatus(await this.#fetch(this.#addressOf(id), { method: 'DELETE' }));
  }

  #addressOf(id: string): string {
    return `${this.#address}/${encodeURIComponent(id)}`;
  }
}
