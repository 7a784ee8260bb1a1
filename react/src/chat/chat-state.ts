import type { ChatError } from '../chat-error.js';

/**
 * A visitor's message.
 *
 * @public
 */
export interface UserMessage {
  /** Unique in the conversation. */
  readonly id: string;
  /** `user`. */
  readonly role: 'user';
  /** As it was typed; empty when there was only a file. */
  readonly text: string;
  /** Name of the attached file. */
  readonly fileName?: string;
}

/**
 * The agent's answer to one message.
 *
 * @public
 */
export interface AgentMessage {
  /** Unique in the conversation. */
  readonly id: string;
  /** `agent`. */
  readonly role: 'agent';
  /** Markdown. */
  readonly text: string;
  /**
   * `working` while it is being written, or when it broke off; `input-required` when the agent waits for a reply,
   * `auth-required` when it waits for the visitor to sign in somewhere.
   */
  readonly state: AgentMessageState;
}

/**
 * The state of the agent's message.
 *
 * @public
 */
export type AgentMessageState = 'working' | 'complete' | 'input-required' | 'auth-required' | 'failed' | 'stopped';

/**
 * One message of a conversation.
 *
 * @public
 */
export type ChatMessage = UserMessage | AgentMessage;

/**
 * The current activity of the chat.
 *
 * @public
 */
export type ChatPhase = 'idle' | 'waiting' | 'streaming' | 'reconnecting' | 'stopping';

/**
 * Everything a chat shows.
 *
 * @public
 */
export interface ChatState {
  /** The conversation, oldest message first. */
  readonly messages: readonly ChatMessage[];
  /** The current activity. A message is sent only while it is `idle`. */
  readonly phase: ChatPhase;
  /** The reason why the last attempt failed; undefined if none did. */
  readonly error: ChatError | undefined;
  /** True if `retry` can repeat the failed attempt, or ask again after an answer that failed or was stopped. */
  readonly canRetry: boolean;
  /** Names the conversation to the agent; empty before the first answer. */
  readonly contextId: string;
  /** From the agent card; empty until it is loaded. */
  readonly agentName: string;
  /** The platform's brand; undefined until the site has responded or failed to. */
  readonly brandCss: string | undefined;
  /** The origins that images may be shown from (`mediaOrigins` of the server); empty until known. */
  readonly mediaOrigins: readonly string[];
}

/**
 * A message to send.
 *
 * @public
 */
export interface ChatDraft {
  /** May be empty when there is a file. */
  readonly text: string;
  /** At most 1.4 MB, which is what fits into a request of 2 MB. */
  readonly file?: File | undefined;
}

export const EMPTY_CHAT: ChatState = {
  messages: [],
  phase: 'idle',
  error: undefined,
  canRetry: false,
  contextId: '',
  agentName: '',
  brandCss: undefined,
  mediaOrigins: [],
};
