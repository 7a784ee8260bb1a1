import { ChatError, MESSAGES, toChatError } from '../chat-error.js';
import { readJson } from '../site-fetch.js';
import type * as AgentModule from './agent.js';
import { type Answer, AnswerBrokenOff, emptyAnswer, type SeenBefore } from './answer.js';
import type { AnswerListener } from './answer-reader.js';
import {
  type AgentMessage,
  type ChatDraft,
  type ChatMessage,
  type ChatState,
  EMPTY_CHAT,
  type OutgoingMessage,
} from './chat-state.js';
import { isTooLarge } from './file-part.js';
import { type StoredMessage, textOfParts } from './message-parts.js';
import { uniqueId } from './unique-id.js';

/** Least time between two states of a growing answer, in milliseconds: more than a reader sees costs the page only. */
const SHOW_MS = 40;
/** Time a stream has to end by itself once its task is cancelled, in milliseconds. */
const CANCELLED_MS = 2000;

/** What a chat needs of its page. */
export interface ChatSite {
  readonly a2aEndpoint: string;
  readonly configEndpoint: string;
  readonly fetch: typeof fetch;
  /** How long a task may work on after its stream has ended. */
  readonly taskTimeoutMs: () => number;
  readonly onError: (error: ChatError) => void;
  /** The site's sign-in; undefined where it has none for the chat. */
  readonly onSignIn: () => ((message: AgentMessage | undefined) => unknown) | undefined;
}

/** What the config route tells a chat before its first message. */
interface ChatConfiguration {
  /** Null for an agent that shows no card. */
  readonly agentCard: unknown;
  /** Custom properties in the brand's colours; empty when there is no brand. */
  readonly brandCss?: unknown;
}

/** A task that waits for the visitor's next message. */
export interface OpenTask {
  readonly id: string;
  readonly seen: SeenBefore;
}

/** An answer that was not read to its end. */
export interface UnfinishedAnswer {
  readonly answerId: string;
  readonly answer: Answer;
}

/** What a conversation needs to go on. JSON. */
export interface Conversation {
  readonly contextId: string;
  readonly messages: readonly StoredMessage[];
  readonly openTask?: OpenTask | undefined;
  readonly unfinished?: UnfinishedAnswer | undefined;
}

/** The message being answered. */
interface Turn {
  readonly abort: AbortController;
  readonly answerId: string;
  answer: Answer | undefined;
  isStopping: boolean;
  /** The page has left it: its connection ends as soon as there is a task to come back to. */
  isLeft: boolean;
  shownAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** One chat with the agent: its messages, and what can be done with them. Knows no framework. */
export class ChatSession {
  readonly #site: ChatSite;
  readonly #listeners = new Set<() => void>();
  #state: ChatState = EMPTY_CHAT;
  #agent: Promise<AgentModule.Agent> | undefined;
  #turn: Turn | undefined;
  #openTask: OpenTask | undefined;
  #unfinished: UnfinishedAnswer | undefined;
  #again: (() => Promise<void>) | undefined;
  /** The module of the agent, loaded with its client. */
  #loaded: typeof AgentModule | undefined;

  constructor(site: ChatSite) {
    this.#site = site;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): ChatState => this.#state;

  /** The conversation as a page can store it. */
  readonly getConversation = (): Conversation => {
    const { contextId, messages } = this.#state;
    const answer = this.#turn?.answer;
    const unfinished =
      this.#turn !== undefined && answer !== undefined && answer.taskId !== '' && answer.state === 'working'
        ? { answerId: this.#turn.answerId, answer }
        : this.#unfinished;
    return { contextId, messages, openTask: this.#openTask, unfinished };
  };

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
    const { id: taskId = '', seen } = this.#openTask ?? {};
    const outgoing: OutgoingMessage = { id: uniqueId(), contextId, taskId, seen, text, file };
    // A task that failed once is left alone: the next message starts a new one.
    this.#openTask = undefined;
    this.#unfinished = undefined;
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

  /** Has the visitor sign in where the agent or the site wants that, then goes on. */
  readonly signIn = async (): Promise<void> => {
    const { messages, phase, error } = this.#state;
    const last = messages.at(-1);
    const asked = last?.role === 'agent' && last.state === 'auth-required' ? last : undefined;
    if (phase !== 'idle' || (asked === undefined && error?.message !== MESSAGES.signedOut)) return;
    await this.#site.onSignIn()?.(asked);
    if (this.#state.phase !== 'idle') return;
    if (this.#state.canRetry) return this.retry();
    if (asked === undefined || this.#openTask === undefined) return;
    const { id, seen } = this.#openTask;
    const answer = emptyAnswer('', id, this.#state.contextId, seen);
    await this.#resume({ answerId: `after-${asked.id}`, answer });
  };

  /** Asks the agent to stop working; closing the connection alone would leave it running. */
  readonly stop = async (): Promise<void> => {
    const turn = this.#turn;
    if (turn === undefined || turn.isStopping) return;
    turn.isStopping = true;
    this.#update({ phase: 'stopping' });
    // An agent that has not named its task yet is asked as soon as it does.
    if (turn.answer !== undefined && turn.answer.taskId !== '') await this.#cancelTask(turn, turn.answer);
  };

  /** Starts a new conversation. What the agent is busy with is left alone. */
  readonly reset = (): void => {
    this.#drop();
    this.#openTask = undefined;
    this.#unfinished = undefined;
    this.#update({ messages: [], contextId: '', error: undefined, canRetry: false, phase: 'idle' });
  };

  /** Goes on with an earlier conversation. */
  readonly open = (contextId: string, messages: readonly ChatMessage[]): void => {
    this.restore({ contextId, messages });
  };

  /** Goes on with a conversation and all that is open in it. */
  restore({ contextId, messages, openTask, unfinished }: Conversation): void {
    this.reset();
    this.#openTask = openTask;
    this.#unfinished = unfinished;
    this.#update({ messages, contextId });
  }

  /** Closes the connection, and nothing else: the agent works on, and `enter` reads on. */
  readonly leave = (): void => {
    if (this.#turn === undefined) return;
    this.#turn.isLeft = true;
    this.#closeIfLeft(this.#turn);
  };

  /** Reads on where `leave` has stopped, or another page. */
  readonly enter = (): void => {
    if (this.#turn !== undefined) this.#turn.isLeft = false;
    else if (this.#unfinished !== undefined && this.#state.error === undefined) void this.#resume(this.#unfinished);
  };

  /** Sends a message; "Retry" sends the very same, so that an agent can tell that it has had it already. */
  async #deliver(message: OutgoingMessage): Promise<void> {
    const answerId = `answer-to-${message.id}`;
    await this.#read(
      answerId,
      undefined,
      (agent, ...reading) => agent.send(message, ...reading),
      () => this.#deliver(message),
    );
  }

  async #resume(unfinished: UnfinishedAnswer): Promise<void> {
    const { answerId, answer } = unfinished;
    this.#unfinished = undefined;
    await this.#read(
      answerId,
      answer,
      (agent, ...reading) => agent.resume(answer, ...reading),
      () => this.#resume(unfinished),
    );
  }

  /** Reads one answer into the message of that id; `again` is what "Retry" does if nothing comes. */
  async #read(
    answerId: string,
    answer: Answer | undefined,
    read: (
      agent: AgentModule.Agent,
      taskTimeoutMs: number,
      listener: AnswerListener,
      signal: AbortSignal,
    ) => Promise<void>,
    again: () => Promise<void>,
  ): Promise<void> {
    const turn: Turn = {
      abort: new AbortController(),
      answerId,
      answer,
      isStopping: false,
      isLeft: false,
      shownAt: 0,
      timer: undefined,
    };
    this.#turn = turn;
    this.#update({ phase: 'waiting', error: undefined, canRetry: false });
    try {
      const agent = await this.#connect();
      if (this.#turn !== turn) return;
      const listener = {
        onAnswer: (grown: Answer) => this.#takeAnswer(turn, grown),
        onReconnecting: (isReconnecting: boolean) => this.#takeConnection(turn, isReconnecting),
      };
      await read(agent, this.#site.taskTimeoutMs(), listener, turn.abort.signal);
    } catch (error) {
      if (this.#turn === turn) this.#takeFailure(turn, error, again);
    } finally {
      if (this.#turn === turn) {
        this.#showAnswer(turn);
        this.#turn = undefined;
        this.#update({ phase: 'idle' });
      }
    }
  }

  #takeAnswer(turn: Turn, answer: Answer): void {
    if (this.#turn !== turn) return;
    const isNewTask = (turn.answer?.taskId ?? '') === '' && answer.taskId !== '';
    const isNewState = turn.answer?.state !== answer.state;
    turn.answer = answer;
    if (!turn.isStopping && this.#state.phase !== 'streaming') this.#update({ phase: 'streaming' });
    const dueMs = turn.shownAt + SHOW_MS - Date.now();
    if (isNewState || dueMs <= 0) this.#showAnswer(turn);
    else turn.timer ??= setTimeout(() => this.#showAnswer(turn), dueMs);
    if (turn.isStopping && isNewTask && answer.state === 'working') void this.#cancelTask(turn, answer);
    this.#closeIfLeft(turn);
  }

  #takeConnection(turn: Turn, isReconnecting: boolean): void {
    if (this.#turn !== turn || turn.isStopping) return;
    const phase = isReconnecting ? 'reconnecting' : turn.answer === undefined ? 'waiting' : 'streaming';
    if (phase !== this.#state.phase) this.#update({ phase });
  }

  #takeFailure({ abort, answerId, answer }: Turn, error: unknown, again: () => Promise<void>): void {
    if (abort.signal.aborted) return; // we closed the connection ourselves, and have said why
    if (error instanceof AnswerBrokenOff) {
      const unfinished = { answerId, answer: error.answer };
      this.#unfinished = unfinished;
      this.#fail(toChatError(error.cause), () => this.#resume(unfinished));
    } else if (answer?.state === 'failed') {
      // The answer itself says that it failed.
      this.#report(toChatError(error));
    } else {
      this.#fail(toChatError(error), again);
    }
  }

  #showAnswer(turn: Turn): void {
    clearTimeout(turn.timer);
    turn.timer = undefined;
    const { answer, answerId } = turn;
    if (this.#turn !== turn || answer === undefined || this.#loaded === undefined) return;
    turn.shownAt = Date.now();
    const { partsOfAnswer, seenAfter } = this.#loaded;
    const parts = partsOfAnswer(answer);
    const { state, taskId } = answer;
    const isOpen = state === 'input-required' || state === 'auth-required';
    this.#openTask = isOpen && taskId !== '' ? { id: taskId, seen: seenAfter(answer) } : undefined;
    const message: StoredMessage = { id: answerId, role: 'agent', text: textOfParts(parts), state, parts };
    const others = this.#state.messages.filter(({ id }) => id !== answerId);
    this.#update({ messages: [...others, message], contextId: answer.contextId || this.#state.contextId });
  }

  async #cancelTask(turn: Turn, answer: Answer): Promise<void> {
    let cancelled: Answer | undefined;
    try {
      cancelled = await (await this.#connect()).cancel(answer);
    } catch (error) {
      if (this.#turn !== turn || turn.answer?.state !== 'working') return;
      turn.abort.abort();
      this.#fail(toChatError(error), undefined);
      return;
    }
    // Its own stream says it best.
    await new Promise((resolve) => setTimeout(resolve, CANCELLED_MS));
    if (this.#turn !== turn) return;
    turn.answer = { ...(turn.answer ?? cancelled), state: cancelled.state === 'working' ? 'stopped' : cancelled.state };
    turn.abort.abort();
  }

  /** Ends a connection the page has left, once there is a task to come back to. */
  #closeIfLeft(turn: Turn): void {
    const { answer, isLeft, answerId } = turn;
    if (!isLeft || answer === undefined || answer.taskId === '' || answer.state !== 'working') return;
    this.#showAnswer(turn);
    this.#drop();
    this.#unfinished = { answerId, answer };
    this.#update({ phase: 'idle' });
  }

  /** Closes the connection without a word. */
  #drop(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    clearTimeout(turn?.timer);
    turn?.abort.abort();
  }

  #fail(error: ChatError, again: (() => Promise<void>) | undefined): void {
    this.#again = again;
    this.#update({ error, canRetry: again !== undefined });
    this.#report(error);
  }

  #report(error: ChatError): void {
    if (isDevelopment()) console.warn('agent-bff-react:', error, error.cause);
    this.#site.onError(error);
  }

  /** The agent; a failed attempt to reach it is not remembered. */
  #connect(): Promise<AgentModule.Agent> {
    this.#agent ??= this.#connectAnew().catch((error: unknown) => {
      this.#agent = undefined;
      this.#update({ brandCss: this.#state.brandCss ?? '' });
      throw error;
    });
    return this.#agent;
  }

  /** The A2A client is loaded while the site responds. */
  async #connectAnew(): Promise<AgentModule.Agent> {
    const { a2aEndpoint, configEndpoint, fetch } = this.#site;
    const [loaded, { agentCard, brandCss }] = await Promise.all([
      import('./agent.js'),
      fetch(configEndpoint).then((response) => readJson<ChatConfiguration>(response, 'agentCard')),
    ]);
    this.#loaded = loaded;
    const agent = new loaded.Agent(agentCard, a2aEndpoint, fetch);
    this.#update({ agentName: agent.name, brandCss: typeof brandCss === 'string' ? brandCss : '' });
    return agent;
  }

  #update(change: Partial<ChatState>): void {
    const names = Object.keys(change) as (keyof ChatState)[];
    if (names.every((name) => change[name] === this.#state[name])) return;
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** True in a bundle for development; bundlers replace the expression. */
function isDevelopment(): boolean {
  try {
    return process.env.NODE_ENV !== 'production';
  } catch {
    return false;
  }
}

declare const process: { readonly env: { readonly NODE_ENV?: string } };
