import type { AgentMessageState } from './chat-state.js';

/** What the agent has said to one message so far. */
export interface Answer {
  /** Empty until the agent has made a task of the message. */
  readonly taskId: string;
  readonly contextId: string;
  /** Everything but `working` is the agent's last word on this message. */
  readonly state: AgentMessageState;
  /** Text by artifact, in the order the artifacts came. */
  readonly artifacts: ReadonlyMap<string, string>;
  /** What the agent said besides its artifacts: a question, a reason, or a plain message. */
  readonly words: string;
}

export const NO_ANSWER: Answer = { taskId: '', contextId: '', state: 'working', artifacts: new Map(), words: '' };

/** The whole answer, in Markdown. */
export function textOfAnswer({ artifacts, words }: Answer): string {
  return [...artifacts.values(), words].filter((text) => text !== '').join('\n\n');
}

/** The stream broke and could not be taken up again; the task may well be running on. */
export class AnswerBrokenOff extends Error {
  override readonly name = 'AnswerBrokenOff';
  readonly answer: Answer;

  constructor(answer: Answer, cause: unknown) {
    super('The connection was lost in the middle of the answer.', { cause });
    this.answer = answer;
  }
}
