import type { Message } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';

import { ConversationRecords } from './conversations/conversation-records.js';
import { filesOf, nameOf, textOf } from './message-text.js';
import { chooseReply, type Pace } from './replies.js';
import { TaskTurn } from './task-turn.js';

/** Runs the reply that matches the visitor's message, and stops when the task is cancelled. */
export class DemoAgent implements AgentExecutor {
  readonly #pace: Pace;
  readonly #records: ConversationRecords;
  readonly #turns = new Map<string, TaskTurn>();

  constructor(pace: Pace, records: ConversationRecords = new ConversationRecords()) {
    this.#pace = pace;
    this.#records = records;
  }

  readonly execute = async (context: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const conversation = this.#records.open(context.context.user?.userName ?? '', context.contextId);
    conversation.add('user', wordsOf(context.userMessage));
    const turn = new TaskTurn(context, bus, (words) => conversation.add('agent', words));
    this.#turns.set(turn.taskId, turn);
    turn.begin();
    const reply = chooseReply({
      message: context.userMessage,
      isFollowUp: context.task !== undefined,
      pace: this.#pace,
    });
    try {
      await reply(turn);
    } catch (error) {
      // A cancelled turn has already published its last event.
      if (!turn.signal.aborted) throw error;
    }
    // A task that waits for input is kept, so that it can still be cancelled.
    if (turn.isOver) this.#turns.delete(turn.taskId);
  };

  readonly cancelTask = async (taskId: string): Promise<void> => {
    this.#turns.get(taskId)?.cancel();
    this.#turns.delete(taskId);
  };

  /** Stops every running turn without events, for shutdown. */
  stop(): void {
    for (const turn of this.#turns.values()) turn.abandon();
    this.#turns.clear();
  }
}

/** The visitor's message as stored in a record: files by name. */
function wordsOf(message: Message): string {
  return [textOf(message), ...filesOf(message).map((file) => `[${nameOf(file)}]`)].join(' ').trim();
}
