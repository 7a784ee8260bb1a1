import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server';

/** One turn of a task; converts the agent's text to the A2A events of its task. */
export class TaskTurn {
  readonly taskId: string;
  readonly #contextId: string;
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #artifactId = randomUUID();
  readonly #stop = new AbortController();
  readonly #record: (words: string) => void;
  #words = '';
  #hasWritten = false;
  #isOver = false;

  /** `record` is called with the agent's whole text, just before the turn ends. */
  constructor(context: RequestContext, bus: ExecutionEventBus, record: (words: string) => void) {
    this.taskId = context.taskId;
    this.#contextId = context.contextId;
    this.#context = context;
    this.#bus = bus;
    this.#record = record;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** True once the task has finished, as opposed to waiting for the visitor. */
  get isOver(): boolean {
    return this.#isOver;
  }

  begin(): void {
    const { task, userMessage } = this.#context;
    this.#bus.publish(
      AgentEvent.task({
        id: this.taskId,
        contextId: this.#contextId,
        status: status(TaskState.TASK_STATE_WORKING),
        artifacts: task?.artifacts ?? [],
        history: task?.history ?? [userMessage],
        metadata: {},
      }),
    );
  }

  /** Adds to the answer, word by word. */
  async write(text: string, wordMs: number): Promise<void> {
    for (const word of text.match(/\S+\s*/g) ?? []) {
      await pause(wordMs, undefined, { signal: this.signal });
      this.#bus.publish(
        AgentEvent.artifactUpdate({
          taskId: this.taskId,
          contextId: this.#contextId,
          artifact: {
            artifactId: this.#artifactId,
            name: 'answer',
            description: '',
            parts: [textPart(word)],
            metadata: {},
            extensions: [],
          },
          append: this.#hasWritten,
          lastChunk: false,
          metadata: {},
        }),
      );
      this.#hasWritten = true;
      this.#words += word;
    }
  }

  complete(): void {
    this.#end(TaskState.TASK_STATE_COMPLETED);
  }

  fail(reason: string): void {
    this.#end(TaskState.TASK_STATE_FAILED, reason);
  }

  cancel(): void {
    this.#stop.abort();
    this.#end(TaskState.TASK_STATE_CANCELED, 'Stopped on request.');
  }

  /** Stops without publishing events. */
  abandon(): void {
    this.#stop.abort();
  }

  /** Asks the visitor; the next message with this task's id continues here. */
  ask(question: string): void {
    this.#publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, question);
  }

  #end(state: TaskState, words?: string): void {
    this.#isOver = true;
    this.#publishStatus(state, words);
  }

  #publishStatus(state: TaskState, words?: string): void {
    const said = [this.#words, words ?? ''].filter((text) => text !== '').join('\n\n');
    this.#words = '';
    // The record comes first: a client may request it as soon as it sees the end of the turn.
    if (said !== '') this.#record(said);
    const message: Message | undefined =
      words === undefined
        ? undefined
        : {
            messageId: randomUUID(),
            contextId: this.#contextId,
            taskId: this.taskId,
            role: Role.ROLE_AGENT,
            parts: [textPart(words)],
            metadata: {},
            extensions: [],
            referenceTaskIds: [],
          };
    this.#bus.publish(
      AgentEvent.statusUpdate({
        taskId: this.taskId,
        contextId: this.#contextId,
        status: status(state, message),
        metadata: {},
      }),
    );
  }
}

function status(state: TaskState, message?: Message) {
  return { state, message, timestamp: new Date().toISOString() };
}

function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: {}, filename: '', mediaType: 'text/plain' };
}
