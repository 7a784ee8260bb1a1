import type { AgentCard } from '@a2a-js/sdk';

import { ChatError, toChatError } from '../chat-error.js';
import { readJson } from '../site-fetch.js';
import type { Agent } from './agent.js';
import { type Answer, AnswerBrokenOff, textOfAnswer } from './answer.js';
import type { StreamListener } from './answer-stream.js';
import { type ChatDraft, type ChatMessage, type ChatState, EMPTY_CHAT, type OutgoingMessage } from './chat-state.js';
import { isTooLarge } from './file-part.js';
import { uniqueId } from './unique-id.js';

/** What a chat needs of its page. */
export interface ChatSite {
  readonly a2aEndpoint: string;
  readonly configEndpoint: string;
  readonly fetch: typeof fetch;
  readonly onError: (error: ChatError) => void;
}

/** What the config route tells a chat before its first message. */
interface ChatConfiguration {
  readonly agentCard: AgentCard;
  /** Custom properties in the brand's colours; empty when there is no brand. */
  readonly brandCss?: string | null;
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
  readonly #site: ChatSite;
  readonly #listeners = new Set<() => void>();
  #state: ChatState = EMPTY_CHAT;
  #agent: Promise<Agent> | undefined;
  #turn: Turn | undefined;
  #openTaskId = '';
  #again: (() => Promise<void>) | undefined;

  constructor(site: ChatSite) {
    this.#site = site;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): ChatState => this.#state;

  /** The task that waits for the visitor's next message; empty when none does. */
  get openTaskId(): string {
    return this.#openTaskId;
  }

  /** Learns the agent's name and brand, so that they show before the first message. */
  async prepare(): Promise<void> {
    await this.#connect().then(
      () => undefined,
      (error: unknown) => this.#fail(toChatError(error), () => this.prepare()),
    );
  }

  /** Sends a message and reads the answer to its end. Does nothing while another answer is being read. */
  readonly send = async (message: string | ChatDraft): Promise<void> => {
    if (this.#state.phase !== 'idle') return;
    const { text, file } = typeof message === 'string' ? { text: message } : message;
    if (text === '' && file === undefined) return;
    if (file !== undefined && isTooLarge(file))
      return this.#fail(new ChatError('file_too_large', `${file.name} is too large.`), undefined);

    const { contextId, messages } = this.#state;
    const outgoing: OutgoingMessage = { id: uniqueId(), contextId, taskId: this.#openTaskId, text, file };
    // A task that failed once is not asked again: the next message starts a new one.
    this.#openTaskId = '';
    const question = { id: outgoing.id, role: 'user' as const, text, ...(file && { fileName: file.name }) };
    this.#update({ messages: [...messages, question] });
    await this.#deliver(outgoing);
  };

  /** Makes the failed attempt again. */
  readonly retry = async (): Promise<void> => {
    if (this.#state.phase !== 'idle' || !this.#state.canRetry) return;
    this.#update({ error: undefined, canRetry: false });
    await this.#again?.();
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
    this.#update({ messages: [], contextId: '', error: undefined, canRetry: false, phase: 'idle' });
  };

  /** Goes on with an earlier conversation, and with a task in it that waits for a reply. */
  readonly open = (contextId: string, messages: readonly ChatMessage[], openTaskId = ''): void => {
    this.reset();
    this.#openTaskId = openTaskId;
    this.#update({ messages, contextId });
  };

  /** Closes the connection, and nothing else: the agent works on. */
  readonly leave = (): void => {
    this.#leave();
    this.#update({ phase: 'idle' });
  };

  /** Sends a message; "Retry" sends the very same, so that an agent can tell that it has had it already. */
  async #deliver(message: OutgoingMessage): Promise<void> {
    const answerId = `answer-to-${message.id}`;
    await this.#read(
      answerId,
      (agent, ...listening) => agent.send(message, ...listening),
      () => this.#deliver(message),
    );
  }

  /** Reads one answer into the message of that id; `again` is what "Retry" does if nothing comes. */
  async #read(
    answerId: string,
    read: (agent: Agent, listener: StreamListener, signal: AbortSignal) => Promise<void>,
    again: () => Promise<void>,
  ): Promise<void> {
    const turn: Turn = { abort: new AbortController(), answerId, taskId: '', isStopping: false };
    this.#turn = turn;
    this.#update({ phase: 'waiting', error: undefined, canRetry: false });
    try {
      const agent = await this.#connect();
      const listener = {
        onAnswer: (answer: Answer) => this.#takeAnswer(turn, answer),
        onReconnecting: (isReconnecting: boolean) => this.#takeConnection(turn, isReconnecting),
      };
      await read(agent, listener, turn.abort.signal);
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
      this.#fail(toChatError(error.cause), () =>
        this.#read(turn.answerId, (agent, ...listening) => agent.resume(answer, ...listening), again),
      );
    } else {
      this.#fail(toChatError(error), again);
    }
  }

  #showAnswer(id: string, answer: Answer): void {
    const message: ChatMessage = { id, role: 'agent', text: textOfAnswer(answer), state: answer.state };
    const others = this.#state.messages.filter((other) => other.id !== id);
    this.#update({ messages: [...others, message], contextId: answer.contextId || this.#state.contextId });
  }

  async #cancelTask({ taskId, abort }: Turn): Promise<void> {
    try {
      await (await this.#connect()).cancel(taskId);
    } catch (error) {
      abort.abort();
      this.#fail(toChatError(error), undefined);
    }
  }

  #leave(): void {
    this.#turn?.abort.abort();
    this.#turn = undefined;
    this.#openTaskId = '';
  }

  #fail(error: ChatError, again: (() => Promise<void>) | undefined): void {
    this.#again = again;
    this.#update({ error, canRetry: again !== undefined });
    this.#site.onError(error);
  }

  /** The agent; a failed attempt to reach it is not remembered. */
  #connect(): Promise<Agent> {
    this.#agent ??= this.#connectAnew().catch((error: unknown) => {
      this.#agent = undefined;
      this.#update({ brandCss: this.#state.brandCss ?? '' });
      throw error;
    });
    return this.#agent;
  }

  /** The A2A client is loaded while the site responds. */
  async #connectAnew(): Promise<Agent> {
    const { a2aEndpoint, configEndpoint, fetch } = this.#site;
    const [{ Agent: A2AAgent }, { agentCard, brandCss }] = await Promise.all([
      import('./agent.js'),
      fetch(configEndpoint).then((response) => readJson<ChatConfiguration>(response, 'agentCard')),
    ]);
    const agent = await A2AAgent.fromCard(agentCard, a2aEndpoint, fetch);
    this.#update({ agentName: agent.name, brandCss: brandCss ?? '' });
    return agent;
  }

  #update(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
