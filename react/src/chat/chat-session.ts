import { ChatError, MESSAGES, report, toChatError } from '../chat-error.js';
import type { ChatOptions } from '../chat-props.js';
import { readJson } from '../site-fetch.js';
import type { Agent, ChatConfiguration } from './agent.js';
import { type AgentMessage, type ChatDraft, type ChatMessage, type ChatState, EMPTY_CHAT } from './chat-state.js';
import { isTooLarge } from './file-part.js';
import type { Conversation, OpenTask, OutgoingMessage, Turn, TurnHost, UnfinishedAnswer, Work } from './turn.js';
import { uniqueId } from './unique-id.js';

/** Everything a chat needs from its page. */
export interface ChatSite {
  readonly a2aEndpoint: string;
  readonly configEndpoint: string;
  readonly fetch: typeof fetch;
  /** Milliseconds a task is polled after its stream has ended. */
  readonly taskTimeoutMs: () => number;
  readonly onError: (error: ChatError) => void;
  /** The site's sign-in; undefined if the chat has none. */
  readonly onSignIn: () => ChatOptions['onSignIn'];
  /** Returns the page context for a message; absent if the page has none. */
  readonly context?: () => unknown;
}

const MAX_CONTEXT_BYTES = 16_384;

/** One chat with the agent: its messages and actions. Independent of any framework. */
export class ChatSession {
  readonly #site: ChatSite;
  readonly #listeners = new Set<() => void>();
  #state: ChatState = EMPTY_CHAT;
  #agent: Promise<Agent> | undefined;
  #turn: Turn | undefined;
  #openTask: OpenTask | undefined;
  #unfinished: UnfinishedAnswer | undefined;
  /** The message sent last. */
  #sent: OutgoingMessage | undefined;
  #again: (() => Promise<void>) | undefined;
  /** The message or error that a sign-in in progress is for. */
  #signsInFor: AgentMessage | ChatError | undefined;
  readonly #host: TurnHost;

  constructor(site: ChatSite) {
    this.#site = site;
    this.#host = {
      get taskTimeoutMs() {
        return site.taskTimeoutMs();
      },
      isCurrent: (turn) => this.#turn === turn,
      getState: this.getState,
      update: (change) => this.#update(change),
      setOpenTask: (task) => (this.#openTask = task),
      suspend: (unfinished) => {
        this.#drop();
        this.#unfinished = unfinished;
        this.#update({ phase: 'idle' });
      },
      resume: (unfinished) => this.#read(unfinished),
      fail: (error, again, unfinished) => {
        this.#unfinished = unfinished;
        this.#fail(error, again);
      },
      report: (error) => this.#report(error),
    };
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
    return { contextId, messages, openTask: this.#openTask, unfinished, sent: this.#sent };
  };

  /** Loads the agent's name and brand before the first message. */
  async prepare(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      this.#fail(toChatError(error), this.#state.canRetry ? this.#again : () => this.prepare());
    }
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
    const outgoing: OutgoingMessage = { id: uniqueId(), contextId, taskId, seen, text, file, page: this.#page() };
    // A failed task is not continued; the next message starts a new one.
    this.#openTask = undefined;
    this.#sent = outgoing;
    const question = { id: outgoing.id, role: 'user' as const, text, ...(file && { fileName: file.name }) };
    this.#update({ messages: [...messages, question] });
    await this.#deliver(outgoing).catch((error: unknown) => this.#fail(toChatError(error), undefined));
  };

  /** The page context as JSON text; left out and reported if it fails or is too long. */
  #page(): string | undefined {
    try {
      const text = JSON.stringify(this.#site.context?.()) as string | undefined;
      if (text === undefined || new TextEncoder().encode(text).length <= MAX_CONTEXT_BYTES) return text;
      throw new RangeError('"context" returned more than 16 KB of JSON.');
    } catch (error) {
      this.#report(toChatError(error));
      return undefined;
    }
  }

  /** Repeats the failed attempt. */
  readonly retry = async (): Promise<void> => {
    if (this.#state.phase !== 'idle' || !this.#state.canRetry) return;
    this.#update({ error: undefined, canRetry: false });
    await this.#again?.();
  };

  /** Retries an attempt that failed because of the connection. */
  readonly reconnect = (): void => {
    if (this.#state.error?.code === 'connection_lost') void this.retry();
  };

  /** Lets the visitor sign in if the agent or the site requires it, then continues. */
  readonly signIn = async (): Promise<void> => {
    const { messages, phase, error } = this.#state;
    const last = messages[messages.length - 1];
    const asked = last?.role === 'agent' && last.state === 'auth-required' ? last : undefined;
    const reason = asked ?? (error?.message === MESSAGES.signedOut ? error : undefined);
    if (phase !== 'idle' || reason === undefined || reason === this.#signsInFor) return;
    this.#signsInFor = reason;
    try {
      await this.#site.onSignIn()?.(asked, { claims: asked ? undefined : error?.claims });
    } catch (failure) {
      return this.#report(toChatError(failure));
    } finally {
      this.#signsInFor = undefined;
    }
    if (this.#state.phase !== 'idle') return;
    if (this.#state.canRetry) return this.retry();
    if (asked === undefined || this.#openTask === undefined) return;
    const answer = (await this.#connect()).continued(this.#openTask, this.#state.contextId);
    await this.#read({ answerId: `after-${asked.id}`, answer });
  };

  /** Asks the agent to stop working; closing the connection alone would leave it running. */
  readonly stop = async (): Promise<void> => {
    const turn = this.#turn;
    if (turn === undefined || turn.isStopping) return;
    turn.isStopping = true;
    this.#update({ phase: 'stopping' });
    if (turn.stop !== undefined || turn.answer !== undefined) return turn.stop?.();
    // The message has not been sent.
    this.#drop();
    this.#update({ phase: 'idle', canRetry: true });
  };

  /** Starts a new conversation; a running task of the old one continues. */
  readonly reset = (): void => {
    this.#drop();
    this.#openTask = undefined;
    this.#unfinished = undefined;
    this.#update({ messages: [], contextId: '', error: undefined, canRetry: false, phase: 'idle' });
  };

  /** Continues an earlier conversation. */
  readonly open = (contextId: string, messages: readonly ChatMessage[]): void => {
    this.restore({ contextId, messages });
  };

  /** Continues a conversation with all that is open in it. */
  restore({ contextId, messages, openTask, unfinished, sent }: Conversation): void {
    this.reset();
    this.#openTask = openTask;
    this.#unfinished = unfinished;
    this.#sent = sent;
    this.#update({ messages, contextId });
    if (sent === undefined || messages[messages.length - 1]?.id !== sent.id) return void this.#offerRetry();
    this.#again = () => this.#deliver(sent);
    // A file is not stored, and a question without its file would be another one.
    const canRetry = sent.file === undefined;
    this.#update({ error: new ChatError('connection_lost', MESSAGES.connectionLost), canRetry });
  }

  /** Closes the connection only: the agent continues, and `enter` resumes reading. */
  readonly leave = (): void => {
    if (this.#turn === undefined) return;
    this.#turn.isLeft = true;
    const turn = this.#turn;
    if (turn.answer !== undefined) void this.#agent?.then((agent) => agent.suspendIfLeft(turn, this.#host));
  };

  /** Resumes reading where `leave`, or another page, stopped. */
  readonly enter = (): void => {
    if (this.#turn !== undefined) this.#turn.isLeft = false;
    else if (this.#unfinished !== undefined && this.#state.error === undefined) void this.#read(this.#unfinished);
  };

  /** Sends a message; "Retry" sends it under the same id, so that an agent recognizes a repetition. */
  #deliver(message: OutgoingMessage): Promise<void> {
    return this.#read({ answerId: `answer-to-${message.id}`, message });
  }

  /** Reads one answer into its message; "Retry" reads it again. */
  async #read(work: Work): Promise<void> {
    const turn: Turn = { ...work, abort: new AbortController() };
    const again = (): Promise<void> => this.#read(work);
    this.#turn = turn;
    this.#again = again;
    this.#unfinished = undefined;
    this.#update({ phase: 'waiting', error: undefined, canRetry: false });
    try {
      const agent = await this.#connect();
      if (this.#turn === turn) await agent.readTurn(turn, this.#host, again);
    } catch (error) {
      if (this.#turn === turn) this.#fail(toChatError(error), again);
    }
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#update({ phase: 'idle' });
    await this.#offerRetry();
  }

  /** After an answer that failed or was stopped, "Retry" asks its question again. */
  async #offerRetry(): Promise<void> {
    const agent = await this.#agent?.catch(() => undefined);
    const repeated = agent?.repeated(this.#state, this.#sent);
    if (repeated === undefined) return;
    this.#again = () => {
      this.#update({ messages: repeated.before });
      return this.send(repeated);
    };
    this.#update({ canRetry: true });
  }

  /** Closes the connection silently. */
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
    report(error, this.#site.onError);
  }

  /** The agent. A failure to reach it is not cached. */
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
    const loading = import('./agent.js');
    loading.catch(() => undefined); // reported below, unless the connection is lost for both
    const response = await fetch(configEndpoint);
    const configuration = await readJson<ChatConfiguration>(response, 'agentCard');
    const { Agent } = await loading;
    const agent = new Agent(configuration, a2aEndpoint, fetch);
    this.#update(agent.looks);
    return agent;
  }

  #update(change: Partial<ChatState>): void {
    const names = Object.keys(change) as (keyof ChatState)[];
    if (names.every((name) => change[name] === this.#state[name])) return;
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
