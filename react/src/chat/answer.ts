import type { AgentMessageState } from './chat-state.js';
import type { MessagePart } from './message-parts.js';

/** Parts under one name: an artifact, or one message of the agent. */
export interface AnswerPiece {
  readonly id: string;
  readonly parts: readonly MessagePart[];
}

/** One message of the agent within an answer. */
export interface AnswerWords extends AnswerPiece {
  /** True for a message that grew in place: it is an answer being written, not progress. */
  readonly isWritten?: boolean;
}

/** Content shown by earlier turns of the same task. */
export interface SeenBefore {
  /** Text by artifact id. */
  readonly artifacts: Readonly<Record<string, string>>;
  /** Ids and texts of messages. */
  readonly messages: readonly string[];
}

/** The agent's answer to one message so far. JSON, so that a page can store it. */
export interface Answer {
  /** Id of the message that is answered. */
  readonly messageId: string;
  /** Empty until the agent has created a task for the message. */
  readonly taskId: string;
  /** True once a Task event has named the task; other ids in its stream are then ignored. */
  readonly isTaskNamed: boolean;
  readonly contextId: string;
  /** Every state except `working` is final for this message. */
  readonly state: AgentMessageState;
  /** In the order they came. */
  readonly artifacts: readonly AnswerPiece[];
  /** Messages while the agent was working, oldest first. */
  readonly said: readonly AnswerWords[];
  /** The agent's final message besides its artifacts: a question, a reason, or plain text. */
  readonly words: readonly AnswerWords[];
  readonly seen: SeenBefore;
  /** The task as it was before the turn. It still asks for the message that was just sent. */
  readonly opening: Pick<Answer, 'state' | 'words'> | null;
}

const NOTHING_SEEN: SeenBefore = { artifacts: {}, messages: [] };

/** The answer to a message before its first event. */
export function emptyAnswer(messageId: string, taskId = '', contextId = '', seen: SeenBefore = NOTHING_SEEN): Answer {
  return {
    messageId,
    taskId,
    isTaskNamed: taskId !== '',
    contextId,
    state: 'working',
    artifacts: [],
    said: [],
    words: [],
    seen,
    opening: null,
  };
}

/** The stream broke and could not be restored; the task may still be running. */
export class AnswerBrokenOff extends Error {
  override readonly name = 'AnswerBrokenOff';
  readonly answer: Answer;

  constructor(answer: Answer, cause: unknown) {
    super('The connection was lost in the middle of the answer.', { cause });
    this.answer = answer;
  }
}
