import type { AnswerState } from './answer';

/** What the visitor said. */
export interface UserMessage {
  readonly id: string;
  readonly role: 'user';
  readonly text: string;
  readonly fileName?: string;
}

/** What the agent said to one message. */
export interface AgentMessage {
  readonly id: string;
  readonly role: 'agent';
  /** Markdown. */
  readonly text: string;
  readonly state: AnswerState;
}

export type ChatMessage = UserMessage | AgentMessage;

/** What the chat is busy with. */
export type ChatPhase = 'idle' | 'waiting' | 'streaming' | 'reconnecting' | 'stopping';

/** Everything a chat shows. */
export interface ChatState {
  readonly messages: readonly ChatMessage[];
  readonly phase: ChatPhase;
  /** Why the last attempt failed; empty when nothing did. */
  readonly failure: string;
  /** True when the failed attempt can be made again. */
  readonly canRetry: boolean;
  /** Names the conversation to the agent; empty before the first answer. */
  readonly contextId: string;
  readonly agentName: string;
  readonly brandCss: string;
}

export const EMPTY_CHAT: ChatState = {
  messages: [],
  phase: 'idle',
  failure: '',
  canRetry: false,
  contextId: '',
  agentName: '',
  brandCss: '',
};
