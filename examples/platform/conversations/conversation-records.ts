import { Conversation, type ConversationSummary } from './conversation.js';

const MAX_CONVERSATIONS = 200;

/** The conversations with the agent, separate for each caller. */
export class ConversationRecords {
  readonly #byOwner = new Map<string, Map<string, Conversation>>();

  /** The conversation with this id; created if the owner has none. */
  open(owner: string, id: string): Conversation {
    const own = this.#byOwner.get(owner) ?? new Map<string, Conversation>();
    this.#byOwner.set(owner, own);
    const conversation = own.get(id) ?? new Conversation(id);
    // The last entry of the map is the newest.
    own.delete(id);
    own.set(id, conversation);
    const [oldest] = own.keys();
    if (own.size > MAX_CONVERSATIONS && oldest !== undefined) own.delete(oldest);
    return conversation;
  }

  /** Newest first. */
  list(owner: string): readonly ConversationSummary[] {
    return [...(this.#byOwner.get(owner)?.values() ?? [])].map(({ summary }) => summary).reverse();
  }

  find(owner: string, id: string): Conversation | undefined {
    return this.#byOwner.get(owner)?.get(id);
  }

  /** False if the owner has no such conversation. */
  delete(owner: string, id: string): boolean {
    return this.#byOwner.get(owner)?.delete(id) ?? false;
  }
}
