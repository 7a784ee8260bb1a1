import type { Message, StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';

import { type Answer, AnswerBrokenOff, NO_ANSWER, textOfAnswer } from './answer.js';
import { takeEvent, takeTask } from './answer-events.js';

/** Pauses before the attempts to take up a broken stream again, in milliseconds. */
const RECONNECT_MS = [500, 1000, 2000, 4000, 8000];

export interface StreamListener {
  /** The answer has grown. */
  onAnswer(answer: Answer): void;
  /** The connection broke (true), or is there again (false). */
  onReconnecting(isReconnecting: boolean): void;
}

/** Reads the answer to one message to its end, over as many connections as that takes. */
export class AnswerStream {
  readonly #client: Client;
  readonly #listener: StreamListener;
  readonly #signal: AbortSignal;
  #answer: Answer = NO_ANSWER;

  constructor(client: Client, listener: StreamListener, signal: AbortSignal) {
    this.#client = client;
    this.#listener = listener;
    this.#signal = signal;
  }

  /**
   * Sends a message and reads the answer.
   *
   * @throws AnswerBrokenOff when the connection is lost for good in the middle of the answer.
   * @throws what the client throws when the message was refused or nobody was reached.
   */
  async send(message: Message): Promise<void> {
    const request = { tenant: '', message, configuration: undefined, metadata: {} };
    try {
      await this.#read(this.#client.sendMessageStream(request, { signal: this.#signal }));
    } catch (error) {
      // Without a task there is nothing to come back to.
      if (this.#answer.taskId === '' || this.#signal.aborted) throw error;
    }
    if (this.#answer.state === 'working') await this.resume(this.#answer);
  }

  /**
   * Goes on reading an answer whose connection was lost.
   *
   * @throws AnswerBrokenOff when that fails.
   */
  async resume(answer: Answer): Promise<void> {
    this.#answer = answer;
    let lastError: unknown;
    for (let attempt = 0; attempt < RECONNECT_MS.length && !this.#signal.aborted; attempt++) {
      this.#listener.onReconnecting(true);
      await pause(RECONNECT_MS[attempt] ?? 0, this.#signal);
      const before = textOfAnswer(this.#answer);
      try {
        await this.#read(this.#client.resubscribeTask({ tenant: '', id: answer.taskId }, { signal: this.#signal }));
      } catch (error) {
        lastError = error;
        if (error instanceof UnsupportedOperationError) await this.#readTask();
        if (error instanceof TaskNotFoundError) break;
      }
      if (this.#answer.state !== 'working') return;
      // A connection that brought something new was good: what broke it deserves all the attempts again.
      if (textOfAnswer(this.#answer) !== before) attempt = -1;
    }
    this.#signal.throwIfAborted();
    throw new AnswerBrokenOff(this.#answer, lastError);
  }

  /** A task that is over cannot be subscribed to, but it can be read. */
  async #readTask(): Promise<void> {
    const task = await this.#client
      .getTask({ tenant: '', id: this.#answer.taskId, historyLength: 0 }, { signal: this.#signal })
      .catch(() => undefined);
    if (task !== undefined) this.#take(takeTask(this.#answer, task));
  }

  async #read(events: AsyncIterable<StreamResponse>): Promise<void> {
    for await (const event of events) {
      this.#take(takeEvent(this.#answer, event));
      if (this.#answer.state !== 'working') return;
    }
  }

  #take(answer: Answer): void {
    this.#answer = answer;
    this.#listener.onReconnecting(false);
    this.#listener.onAnswer(answer);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
