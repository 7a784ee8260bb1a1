import { ChatError, lost, MESSAGES } from '../chat-error.js';
import { type AgentClient, AgentRefusal, TASK_NOT_FOUND, type WireRequest } from './agent-client.js';
import { type Answer, AnswerBrokenOff } from './answer.js';
import { endsTurn, isNewQuestion, settled, takeEvent } from './answer-events.js';
import type { WireEvent } from './wire.js';

/** Pauses before the attempts to restore a broken connection, in milliseconds. */
const RECONNECT_MS = [500, 1000, 2000, 4000, 8000];
const MIN_POLL_MS = 1000;
const MAX_POLL_MS = 15_000;
const POLL_GROWTH = 1.5;
/** Number of polls after which a task that still asks for the message it was sent counts as waiting. */
const MAX_OPENING_POLLS = 5;
/** Number of errors in a row after which a task that the agent rejects counts as gone. */
const MAX_REFUSALS = 3;
/** Milliseconds a stream may stay open after the end of an answer. */
const AFTER_END_MS = 1000;

export interface AnswerListener {
  /** Called when the answer has grown. */
  onAnswer(answer: Answer): void;
  /** Called with true when the connection broke, with false when it is restored. */
  onReconnecting(isReconnecting: boolean): void;
}

/** A clock that tests can set. */
export interface ReaderClock {
  readonly now: () => number;
  /** Resolves after some milliseconds; at once when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Resolves when the page is visible. */
  readonly visible: (signal: AbortSignal) => Promise<void>;
}

/** Reads the answer to one message to its end, over as many connections as that takes. */
export class AnswerReader {
  readonly #client: AgentClient;
  readonly #listener: AnswerListener;
  readonly #signal: AbortSignal;
  readonly #clock: ReaderClock;
  readonly #timeoutMs: number;
  #answer: Answer;

  /** `timeoutMs` limits the polling of a task after its stream has ended. */
  constructor(
    client: AgentClient,
    answer: Answer,
    timeoutMs: number,
    listener: AnswerListener,
    signal: AbortSignal,
    clock: ReaderClock = BROWSER_CLOCK,
  ) {
    this.#client = client;
    this.#answer = answer;
    this.#timeoutMs = timeoutMs;
    this.#listener = listener;
    this.#signal = signal;
    this.#clock = clock;
  }

  /**
   * Sends a message and reads the answer.
   *
   * @throws AnswerBrokenOff when the connection is lost for good in the middle of the answer.
   * @throws what the client throws when the message was refused or could not be delivered.
   */
  async send(request: WireRequest): Promise<void> {
    let hasEvent = false;
    const events = this.#client.send(request, this.#signal);
    try {
      await this.#read(events, () => (hasEvent = true));
    } catch (error) {
      // Without a task there is nothing to resume. An error from the agent is final.
      if (this.#signal.aborted || !hasEvent || this.#answer.taskId === '' || !isPassing(error))
        throw this.#lastWord(error);
      await this.#follow(true);
      return;
    }
    if (!hasEvent)
      throw new ChatError('unreadable', MESSAGES.unreadable, { cause: new Error('The response has no event.') });
    if (this.#answer.state === 'working' && this.#answer.taskId === '')
      this.#take({ ...this.#answer, state: 'complete' });
    await this.#follow(false);
  }

  /**
   * Resumes an answer whose connection was lost.
   *
   * @throws AnswerBrokenOff when that fails.
   */
  async resume(): Promise<void> {
    await this.#follow(false);
  }

  /** Reads a task to its end: from its stream, or by polling if it has none. */
  async #follow(isBroken: boolean): Promise<void> {
    const { now, pause, visible } = this.#clock;
    let until = now() + this.#timeoutMs;
    let hasStream = this.#client.streams;
    let [failures, refusals, openings] = [0, 0, 0];
    let pollMs = MIN_POLL_MS;
    let pauseMs = isBroken ? RECONNECT_MS[0] : hasStream ? 0 : MIN_POLL_MS;
    if (isBroken) this.#listener.onReconnecting(true);
    while (this.#answer.state === 'working') {
      await pause(pauseMs ?? MAX_POLL_MS, this.#signal);
      if (!hasStream) await visible(this.#signal);
      if (this.#signal.aborted) lost(this.#signal);
      const before = this.#answer;
      let isOpen = false;
      try {
        if (hasStream) await this.#read(this.#client.subscribe(before.taskId, this.#signal), () => (isOpen = true));
        else this.#take(takeEvent(before, await this.#client.get(before.taskId, this.#signal)));
        const hasNews = !isSame(before, this.#answer);
        // A stream that ended without news would do so again, so the task is polled.
        hasStream &&= hasNews;
        [failures, refusals] = [0, 0];
        pollMs = hasNews ? MIN_POLL_MS : Math.min(pollMs * POLL_GROWTH, MAX_POLL_MS);
        pauseMs = hasStream ? RECONNECT_MS[0] : pollMs;
        if (this.#answer.opening !== null && ++openings >= MAX_OPENING_POLLS) this.#take(settled(this.#answer));
      } catch (error) {
        if (this.#signal.aborted) throw error;
        // A bug in this code would recur with each attempt.
        if (!(error instanceof AgentRefusal || isPassing(error))) throw new AnswerBrokenOff(this.#answer, error);
        if (error instanceof ChatError && error.reason === 'conversation_unknown')
          throw new AnswerBrokenOff(this.#answer, error);
        if (error instanceof AgentRefusal && hasStream) {
          hasStream = false;
          pauseMs = 0;
          continue;
        }
        // An earlier question is still open unless the agent closed it.
        if (error instanceof AgentRefusal && this.#answer.opening !== null) this.#take(settled(this.#answer));
        else if (error instanceof AgentRefusal && (error.code === TASK_NOT_FOUND || ++refusals >= MAX_REFUSALS))
          throw new AnswerBrokenOff(this.#answer, error);
        // A connection that delivered something worked, so the number of attempts starts again.
        if (!isSame(before, this.#answer)) failures = 0;
        const waitMs = error instanceof ChatError ? error.retryAfterMs : undefined;
        if (waitMs === undefined && ++failures >= RECONNECT_MS.length) throw new AnswerBrokenOff(this.#answer, error);
        if (!(error instanceof AgentRefusal)) this.#listener.onReconnecting(waitMs === undefined);
        pauseMs = waitMs ?? RECONNECT_MS[failures] ?? MAX_POLL_MS;
      } finally {
        if (isOpen) until = now() + this.#timeoutMs;
      }
      if (this.#answer.state === 'working' && now() + pauseMs! > until)
        throw new AnswerBrokenOff(this.#answer, new ChatError('still_working', MESSAGES.stillWorking));
    }
  }

  async #read(events: AsyncIterable<WireEvent>, onEvent?: () => void): Promise<void> {
    const iterator = events[Symbol.asyncIterator]();
    let isFirst = true;
    try {
      for (;;) {
        const next = iterator.next();
        const isOver = this.#answer.state !== 'working';
        const result = isOver ? await orAfter(next, AFTER_END_MS) : await next;
        if (result === undefined || result.done === true) break;
        onEvent?.();
        this.#take(takeEvent(this.#answer, result.value, isFirst));
        isFirst = false;
        if (endsTurn(result.value)) break;
      }
    } catch (error) {
      if (this.#answer.state === 'working') throw error;
    } finally {
      void iterator.return?.().catch(() => undefined);
    }
    // A new question at the start belongs to this turn. A repeated one may be older than the message.
    if (isNewQuestion(this.#answer)) this.#take(settled(this.#answer));
  }

  #take(answer: Answer): void {
    this.#answer = answer;
    this.#listener.onReconnecting(false);
    this.#listener.onAnswer(answer);
  }

  /** Marks the answer so far as failed, and returns the error. */
  #lastWord(error: unknown): unknown {
    if (error instanceof AgentRefusal && this.#answer.taskId !== '' && !this.#signal.aborted)
      this.#take({ ...this.#answer, state: 'failed' });
    return error;
  }
}

/** True for an error that a new connection may fix, such as an event that was too long. */
function isPassing(error: unknown): boolean {
  return error instanceof ChatError || error instanceof RangeError;
}

function isSame(before: Answer, { state, artifacts, said, words }: Answer): boolean {
  return (
    state === before.state &&
    said === before.said &&
    JSON.stringify([artifacts, words]) === JSON.stringify([before.artifacts, before.words])
  );
}

/** A promise's value, or undefined when it takes too long. */
async function orAfter<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  promise.catch(() => undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

const BROWSER_CLOCK: ReaderClock = {
  now: () => performance.now(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        removeEventListener('online', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done);
      addEventListener('online', done); // the network may be back
    }),
  visible: (signal) =>
    new Promise((resolve) => {
      if (document.visibilityState === 'visible' || signal.aborted) return resolve();
      const done = (): void => {
        if (document.visibilityState !== 'visible' && !signal.aborted) return;
        document.removeEventListener('visibilitychange', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      document.addEventListener('visibilitychange', done);
      signal.addEventListener('abort', done);
    }),
};
