import { type Message, Role } from '@a2a-js/sdk';

import { type AgentConnection, type AgentRoutes, connectAgent } from './agent-connection';
import { type Answer, textOfAnswer } from './answer';
import { AnswerBrokenOff, AnswerStream } from './answer-stream';
import { type ChatMessage, type ChatState, EMPTY_CHAT } from './chat-state';
import { describeFailure } from './failure';
import { filePart, refusalOf, textPart } from './file-part';

/** What the visitor wants to say. */
export interface Draft {
  readonly text: string;
  readonly file?: File | undefined;
}

/** The message being answered. */
interface Turn {
  readonly abort: AbortController;
  readonly answerId: string;
  taskId: string;
  isStopping: boolean;
}

/** One chat with the agent: its messages, and what can be done with them. Knows no framework. */
export class ChatSession {
  readonly #routes: AgentRoutes;
  readonly #listeners = new Set<() => void>();
  #state: ChatState = EMPTY_CHAT;
  #connection: Promise<AgentConnection> | undefined;
  #turn: Turn | undefined;
  /** The task that waits for the visitor's next message; empty when none does. */
  #openTaskId = '';
  #again: (() => Promise<void>) | undefined;

  constructor(routes: AgentRoutes) {
    this.#routes = routes;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): ChatState => this.#state;

  /** Learns the agent's name and brand, so that they show before the first message. */
  async prepare(): Promise<void> {
    await this.#attempt(
      async () => void (await this.#connect()),
      () => this.prepare(),
    );
  }

  /** Sends a message and reads the answer to its end. Does nothing while another answer is being read. */
  async send({ text, file }: Draft): Promise<void> {
    if (this.#state.phase !== 'idle') return;
    const refused = file && refusalOf(file);
    if (refused !== undefined) return this.#fail(refused, undefined);

    this.#update({ phase: 'waiting' });
    const message = await this.#messageOf({ text, file }).catch(() => undefined);
    if (message === undefined) {
      this.#update({ phase: 'idle' });
      return this.#fail('The file could not be read.', undefined);
    }
    // A task that failed once is not asked again: the next message starts a new one.
    this.#openTaskId = '';
    const question = { id: message.messageId, role: 'user' as const, text, ...(file && { fileName: file.name }) };
    this.#update({ messages: [...this.#state.messages, question] });
    await this.#deliver(message);
  }

  /** Makes the failed attempt again. */
  readonly retry = async (): Promise<void> => {
    if (this.#state.phase === 'idle') await this.#again?.();
  };

  /** Asks the agent to stop working; closing the connection alone would leave it running. */
  readonly stop = async (): Promise<void> => {
    const turn = this.#turn;
    if (turn === undefined || turn.isStopping) return;
    turn.isStopping = true;
    this.#update({ phase: 'stopping' });
    // An agent that has not named its task yet is asked as soon as it does.
    if (turn.taskId !== '') await this.#cancelTask(turn);
  };

  /** Starts a new conversation. What the agent is busy with is left alone. */
  readonly reset = (): void => {
    this.#leave();
    this.#update({ messages: [], contextId: '', failure: '', canRetry: false, phase: 'idle' });
  };

  /** Goes on with an earlier conversation. */
  open(contextId: string, messages: readonly ChatMessage[]): void {
    this.reset();
    this.#update({ messages, contextId });
  }

  /** Closes the connection, and nothing else: the agent works on. */
  readonly leave = (): void => {
    this.#leave();
    this.#update({ phase: 'idle' });
  };

  async #messageOf({ text, file }: Draft): Promise<Message> {
    const parts = [...(text === '' ? [] : [textPart(text)]), ...(file ? [await filePart(file)] : [])];
    return {
      messageId: crypto.randomUUID(),
      contextId: this.#state.contextId,
      taskId: this.#openTaskId,
      role: Role.ROLE_USER,
      parts,
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    };
  }

  /** Sends a message; "Retry" sends the very same, so that an agent can tell that it has had it already. */
  async #deliver(message: Message): Promise<void> {
    const answerId = `answer-to-${message.messageId}`;
    await this.#read(
      answerId,
      (stream) => stream.send(message),
      () => this.#deliver(message),
    );
  }

  /** Reads one answer into the message of that id; `again` is what "Retry" does if nothing comes. */
  async #read(
    answerId: string,
    read: (stream: AnswerStream) => Promise<void>,
    again: () => Promise<void>,
  ): Promise<void> {
    const turn: Turn = { abort: new AbortController(), answerId, taskId: '', isStopping: false };
    this.#turn = turn;
    this.#update({ phase: 'waiting', failure: '', canRetry: false });
    try {
      const { client } = await this.#connect();
      const listener = {
        onAnswer: (answer: Answer) => this.#takeAnswer(turn, answer),
        onReconnecting: (isReconnecting: boolean) => this.#takeConnection(turn, isReconnecting),
      };
      await read(new AnswerStream(client, listener, turn.abort.signal));
    } catch (error) {
      if (this.#turn === turn) this.#takeFailure(turn, error, again);
    } finally {
      if (this.#turn === turn) {
        this.#turn = undefined;
        this.#update({ phase: 'idle' });
      }
    }
  }

  #takeAnswer(turn: Turn, answer: Answer): void {
    if (this.#turn !== turn) return;
    const isNewTask = turn.taskId === '' && answer.taskId !== '';
    turn.taskId = answer.taskId;
    this.#openTaskId = answer.state === 'input-required' ? answer.taskId : '';
    this.#showAnswer(turn.answerId, answer);
    if (!turn.isStopping) this.#update({ phase: 'streaming' });
    else if (isNewTask && answer.state === 'working') void this.#cancelTask(turn);
  }

  #takeConnection(turn: Turn, isReconnecting: boolean): void {
    if (this.#turn === turn && !turn.isStopping) this.#update({ phase: isReconnecting ? 'reconnecting' : 'streaming' });
  }

  #takeFailure(turn: Turn, error: unknown, again: () => Promise<void>): void {
    if (turn.abort.signal.aborted) return; // we closed the connection ourselves, and have said why
    if (error instanceof AnswerBrokenOff) {
      const { answer } = error;
      this.#fail(describeFailure(error.cause), () =>
        this.#read(turn.answerId, (stream) => stream.resume(answer), again),
      );
    } else {
      this.#fail(describeFailure(error), again);
    }
  }

  #showAnswer(id: string, answer: Answer): void {
    const message: ChatMessage = { id, role: 'agent', text: textOfAnswer(answer), state: answer.state };
    const others = this.#state.messages.filter((other) => other.id !== id);
    this.#update({ messages: [...others, message], contextId: answer.contextId || this.#state.contextId });
  }

  async #cancelTask({ taskId, abort }: Turn): Promise<void> {
    try {
      const { client } = await this.#connect();
      await client.cancelTask({ tenant: '', id: taskId, metadata: {} });
    } catch (error) {
      abort.abort();
      this.#fail(describeFailure(error), undefined);
    }
  }

  #leave(): void {
    this.#turn?.abort.abort();
    this.#turn = undefined;
    this.#openTaskId = '';
  }

  async #attempt(action: () => Promise<void>, again: () => Promise<void>): Promise<void> {
    this.#update({ failure: '', canRetry: false });
    await action().catch((error: unknown) => this.#fail(describeFailure(error), again));
  }

  #fail(failure: string, again: (() => Promise<void>) | undefined): void {
    this.#again = again;
    this.#update({ failure, canRetry: again !== undefined });
  }

  /** The connection to the agent; a failed attempt is not remembered. */
  #connect(): Promise<AgentConnection> {
    this.#connection ??= connectAgent(this.#routes).then(
      (connection) => {
        const { agentName, brandCss } = connection;
        this.#update({ agentName, brandCss });
        return connection;
      },
      (error: unknown) => {
        this.#connection = undefined;
        throw error;
      },
    );
    return this.#connection;
  }

  #update(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
