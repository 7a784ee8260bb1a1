import type { AgentMessageState } from './chat-state.js';
import type { MessagePart } from './message-parts.js';

/** Parts under one name: an artifact, or one message of the agent. */
export interface AnswerPiece {
  readonly id: string;
  readonly parts: readonly MessagePart[];
}

/** One message of the agent within an answer. */
export interface AnswerWords extends AnswerPiece {
  /** True for a message that grew in place: an answer being written, and no progress. */
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
  /** Empty until the agent has made a task of the message. */
  readonly taskId: string;
  /** True once a Task has named itself: other ids in the events of its stream are ignored. */
  readonly isTaskNamed: boolean;
  readonly contextId: string;
  /** Everything but `working` is the agent's last word on this message. */
  readonly state: AgentMessageState;
  /** In the order they came. */
  readonly artifacts: readonly AnswerPiece[];
  /** Messages while the agent was working, oldest first. */
  readonly said: readonly AnswerWords[];
  /** The agent's last word besides its artifacts: a question, a reason, or a plain message. */
  readonly words: readonly AnswerWords[];
  readonly seen: SeenBefore;
  /** The task as the turn found it: it waits for the message that was just sent, or so it says. */
  readonly opening: Pick<Answer, 'state' | 'words'> | null;
}

const NOTHING_SEEN: SeenBefore = { artifacts: {}, messages: [] };

/** The answer to a message before anything of it is there. */
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

/** The stream broke and could not be restored; the task may well be running on. */
export class AnswerBrokenOff extends Error {
  override readonly name = 'AnswerBrokenOff';
  readonly answer: Answer;

  constructor(answer: Answer, cause: unknown) {
    super('The connection was lost in the middle of the answer.', { cause });
    this.answer = answer;
  }
}
