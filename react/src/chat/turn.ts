import type { ChatError } from '../chat-error.js';
import type { Answer, SeenBefore } from './answer.js';
import type { ChatDraft, ChatState } from './chat-state.js';
import type { StoredMessage } from './message-parts.js';

/** A message as it is sent to the agent. */
export interface OutgoingMessage extends ChatDraft {
  readonly id: string;
  readonly contextId: string;
  readonly taskId: string;
  /** The page's statement as JSON text. */
  readonly page?: string | undefined;
  /** Content of earlier turns of the same task. */
  readonly seen?: SeenBefore | undefined;
}

/** A task that waits for the visitor's next message. */
export interface OpenTask {
  readonly id: string;
  readonly seen: SeenBefore;
}

/** An answer that was not read to its end. */
export interface UnfinishedAnswer {
  readonly answerId: string;
  readonly answer: Answer;
}

/** A conversation as JSON, complete enough to continue it. */
export interface Conversation {
  readonly contextId: string;
  readonly messages: readonly StoredMessage[];
  readonly openTask?: OpenTask | undefined;
  readonly unfinished?: UnfinishedAnswer | undefined;
  /** The message sent last. It can be sent again if it is the last one: the agent has not begun to answer. */
  readonly sent?: OutgoingMessage | undefined;
}

/** An answer to read: an unfinished one, or the answer to a message that is sent first. */
export interface Work {
  readonly answerId: string;
  readonly message?: OutgoingMessage;
  answer?: Answer | undefined;
}

/** The message being answered. */
export interface Turn extends Work {
  readonly abort: AbortController;
  isStopping?: true;
  /** Stops the agent, or ends the request; absent until the agent is loaded. */
  stop?: () => Promise<void>;
  /** True once the agent has confirmed that it stopped. */
  isStopped?: true;
  /** True once the page has left: the connection closes as soon as there is a task to resume. */
  isLeft?: boolean;
  /** When the answer may be shown next, in milliseconds on the page's clock, and the timer that does so. */
  nextShownAt?: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

/** The session state that changes while an answer is read. */
export interface TurnHost {
  readonly taskTimeoutMs: number;
  /** True while the session shows this turn; another conversation ignores its answer. */
  isCurrent(turn: Turn): boolean;
  getState(): ChatState;
  update(change: Partial<ChatState>): void;
  setOpenTask(task: OpenTask | undefined): void;
  /** Closes the connection of the current turn; reading can be resumed. */
  suspend(unfinished: UnfinishedAnswer): void;
  resume(unfinished: UnfinishedAnswer): Promise<void>;
  /** `unfinished` can be resumed by another page. */
  fail(error: ChatError, again: (() => Promise<void>) | undefined, unfinished?: UnfinishedAnswer): void;
  report(error: ChatError): void;
}
