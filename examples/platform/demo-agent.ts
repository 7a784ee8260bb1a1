import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';

import { chooseReply, type Pace } from './replies.js';
import { TaskTurn } from './task-turn.js';

/** Plays the reply that the visitor's words ask for, and stops playing when the task is cancelled. */
export class DemoAgent implements AgentExecutor {
  readonly #pace: Pace;
  readonly #turns = new Map<string, TaskTurn>();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  readonly execute = async (context: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const turn = new TaskTurn(context, bus);
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
      // A cancelled turn has already said its last word.
      if (!turn.signal.aborted) throw error;
    }
    // A task that waits for input stays known, so that it can still be cancelled.
    if (turn.isOver) this.#turns.delete(turn.taskId);
  };

  readonly cancelTask = async (taskId: string): Promise<void> => {
    this.#turns.get(taskId)?.cancel();
    this.#turns.delete(taskId);
  };

  /** Stops every running turn without a word, for when the platform goes away. */
  stop(): void {
    for (const turn of this.#turns.values()) turn.abandon();
    this.#turns.clear();
  }
}
