export interface RecordedMessage {
  readonly role: 'user' | 'agent';
  readonly text: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface ConversationSummary {
  readonly id: string;
  /** Its first words. */
  readonly title: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

const MAX_TITLE = 60;

export class Conversation {
  readonly #id: string;
  readonly #messages: RecordedMessage[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  add(role: RecordedMessage['role'], text: string): void {
    this.#messages.push({ role, text, at: new Date().toISOString() });
  }

  get summary(): ConversationSummary {
    return { id: this.#id, title: this.#title, updatedAt: this.#messages.at(-1)?.at ?? '' };
  }

  toJSON(): object {
    return { id: this.#id, title: this.#title, messages: this.#messages };
  }

  get #title(): string {
    const { text = '' } = this.#messages[0] ?? {};
    return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE)}…`;
  }
}
