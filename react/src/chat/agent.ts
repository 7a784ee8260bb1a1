import { ChatError, MESSAGES } from '../chat-error.js';
import { AgentClient, readableError, readCard, type WireRequest } from './agent-client.js';
import { type Answer, AnswerBrokenOff, emptyAnswer } from './answer.js';
import { partsOfAnswer, seenAfter, settled, takeEvent } from './answer-events.js';
import { type AnswerListener, AnswerReader } from './answer-reader.js';
import type { ChatDraft, ChatMessage, ChatState } from './chat-state.js';
import { type StoredMessage, textOfParts } from './message-parts.js';
import type { OpenTask, OutgoingMessage, Turn, TurnHost } from './turn.js';

/** Minimum milliseconds between two states of a growing answer. A reader would not see more of them. */
const SHOW_MS = 50;
/** A longer answer takes longer to lay out and paint, so the pause grows by a millisecond per this many characters. */
const CHARACTERS_PER_MS = 250;
/**
 * For a conversation that belongs to another visitor now, such as after a sign-out. Not a label, because it is loaded
 * with the agent.
 */
const ENDED = 'This conversation cannot be continued here.';
/** Milliseconds for the agent to name the task to stop, and for a stream to end by itself once its task is cancelled. */
const CANCELLED_MS = 2000;

/** The response of the config route, read before the first message. */
export interface ChatConfiguration {
  /** Null if the agent has no card. */
  readonly agentCard: unknown;
  /** Custom properties in the brand's colours; empty when there is no brand. */
  readonly brandCss?: unknown;
  readonly mediaOrigins?: unknown;
}

/** The agent as the browser reaches it: at the page's own origin, with no credential. Loaded by `ChatSession`. */
export class Agent {
  /** Its name, its brand, and the origins of its images. */
  readonly looks: Pick<ChatState, 'agentName' | 'brandCss' | 'mediaOrigins'>;
  readonly #client: AgentClient;
  /** Ids of messages that the site refused in their conversation. A retry of one starts a new conversation. */
  readonly #refused = new Set<string>();

  /** `a2aEndpoint` is an address or a path of the site. */
  constructor({ agentCard, brandCss, mediaOrigins }: ChatConfiguration, a2aEndpoint: string, fetchImpl: typeof fetch) {
    const { name, ...facts } = readCard(agentCard);
    this.looks = {
      agentName: name,
      brandCss: typeof brandCss === 'string' ? brandCss : '',
      mediaOrigins: Array.isArray(mediaOrigins) ? mediaOrigins.filter((origin) => typeof origin === 'string') : [],
    };
    this.#client = new AgentClient(new URL(a2aEndpoint, document.baseURI).href, fetchImpl, facts);
  }

  /** The rest of the answer of a task that waited for a sign-in. */
  continued({ id, seen }: OpenTask, contextId: string): Answer {
    return emptyAnswer('', id, contextId, seen);
  }

  /** Reads the answer of one turn, or its failure, into the host. */
  async readTurn(turn: Turn, host: TurnHost, again: () => Promise<void>): Promise<void> {
    const listener: AnswerListener = {
      onAnswer: (answer) => this.#takeAnswer(turn, answer, host),
      onReconnecting: (isReconnecting) => {
        if (!host.isCurrent(turn) || turn.isStopping) return;
        host.update({ phase: isReconnecting ? 'reconnecting' : turn.answer === undefined ? 'waiting' : 'streaming' });
      },
    };
    const reader = (answer: Answer): AnswerReader =>
      new AnswerReader(this.#client, answer, host.taskTimeoutMs, listener, turn.abort.signal);
    markUnanswered(host);
    try {
      turn.stop = () => this.#stop(turn, host);
      if (turn.isStopping) void turn.stop();
      if (turn.answer !== undefined) await reader(turn.answer).resume();
      else if (turn.message !== undefined) {
        const { id, taskId, contextId, seen, ...message } = this.#inConversation(turn.message);
        const request = await toRequest({ ...message, id, taskId, contextId });
        await reader(emptyAnswer(id, taskId, contextId, seen)).send(request);
      }
    } catch (error) {
      // An aborted connection was closed by this side, which has already shown why.
      if (host.isCurrent(turn) && !turn.abort.signal.aborted && !this.#takeEnd(turn, error, host, again)) {
        takeFailure(turn, error, host, again);
      }
    }
    showAnswer(turn, host);
    // An agent may leave its stream open after the end, and a browser allows few connections.
    turn.abort.abort();
  }

  /**
   * The question of a last answer that failed or was stopped, to be asked again after the messages before it; undefined
   * if its file is gone, which is not stored.
   */
  repeated(
    { messages, error, phase }: ChatState,
    sent: OutgoingMessage | undefined,
  ): (ChatDraft & { readonly before: readonly ChatMessage[] }) | undefined {
    const last = messages[messages.length - 1];
    if (phase !== 'idle' || error !== undefined || last?.role !== 'agent') return undefined;
    if (last.state !== 'failed' && last.state !== 'stopped') return undefined;
    const index = messages.map(({ role }) => role).lastIndexOf('user');
    const question = messages[index];
    if (question?.role !== 'user') return undefined;
    const file = question.id === sent?.id ? sent.file : undefined;
    if (question.fileName !== undefined && !(file instanceof Blob)) return undefined;
    return { text: question.text, file, before: messages.slice(0, index) };
  }

  /** The message as it is sent: a message that was refused in its conversation starts a new one. */
  #inConversation(message: OutgoingMessage): OutgoingMessage {
    return this.#refused.has(message.id) ? { ...message, contextId: '', taskId: '', seen: undefined } : message;
  }

  /** True if the conversation no longer belongs to this visitor. The next message starts a new one. */
  #takeEnd(turn: Turn, error: unknown, host: TurnHost, again: () => Promise<void>): boolean {
    const isBroken = error instanceof AnswerBrokenOff;
    const { reason, status } = readableError(isBroken ? error.cause : error);
    if (reason !== 'conversation_unknown') return false;
    // The part that was read is still shown.
    if (turn.answer !== undefined) turn.answer = { ...turn.answer, contextId: '', taskId: '' };
    showAnswer(turn, host);
    turn.answer = undefined;
    host.setOpenTask(undefined);
    const { messages } = host.getState();
    const last = messages[messages.length - 1];
    // A message that was refused is the first one of the new conversation.
    const end = isBroken ? last : messages[messages.length - 2];
    if (last !== undefined) this.#refused.add(last.id);
    host.update({
      contextId: '',
      messages: messages.map((one) => (one === end ? { ...one, endsConversation: true } : one)),
    });
    const words = `${ENDED} ${isBroken ? 'Your next message starts' : 'Try again to start'} a new one.`;
    host.fail(new ChatError('refused', words, { cause: error, reason, status }), isBroken ? undefined : again);
    return true;
  }

  /** Cancels the task of a turn. An agent that names none in time has nothing to cancel. */
  async #stop(turn: Turn, host: TurnHost): Promise<void> {
    const { answer } = turn;
    if (answer !== undefined && answer.taskId !== '') await this.#cancel(turn, answer, host);
    else if (answer !== undefined) endWithoutTask(turn, host);
    else setTimeout(endWithoutTask, CANCELLED_MS, turn, host);
  }

  /** Asks the agent to stop working on the answer of a turn. */
  async #cancel(turn: Turn, answer: Answer, host: TurnHost): Promise<void> {
    let cancelled: Answer;
    try {
      cancelled = settled(takeEvent(answer, await this.#client.cancel(answer.taskId)));
    } catch (error) {
      if (!host.isCurrent(turn) || turn.answer?.state !== 'working') return;
      const lost = readableError(error);
      turn.abort.abort();
      const isLost = lost.code === 'connection_lost';
      host.fail(isLost ? lost : new ChatError('refused', MESSAGES.cannotStop, { cause: error }), undefined);
      return;
    }
    if (cancelled.state === 'stopped') {
      turn.isStopped = true;
      // Its stream may have ended first.
      const messages = host
        .getState()
        .messages.map((message) => (message.id === turn.answerId ? stopped(message) : message));
      host.update({ messages });
    }
    // The agent's own stream is the best source for how it ended.
    setTimeout(() => {
      if (!host.isCurrent(turn)) return;
      const state = cancelled.state === 'working' ? 'stopped' : cancelled.state;
      turn.answer = { ...(turn.answer ?? cancelled), state };
      turn.abort.abort();
    }, CANCELLED_MS);
  }

  /** Closes the connection of a page that left, once there is a task to resume. */
  suspendIfLeft(turn: Turn, host: TurnHost): void {
    const { answer, isLeft, answerId } = turn;
    if (!isLeft || !host.isCurrent(turn) || answer === undefined) return;
    if (answer.taskId === '' || answer.state !== 'working') return;
    showAnswer(turn, host);
    host.suspend({ answerId, answer });
  }

  #takeAnswer(turn: Turn, answer: Answer, host: TurnHost): void {
    if (!host.isCurrent(turn) || turn.abort.signal.aborted) return;
    if (turn.isStopping && answer.taskId === '') return endWithoutTask(turn, host);
    const isNewTask = (turn.answer?.taskId ?? '') === '' && answer.taskId !== '';
    const isNewState = turn.answer?.state !== answer.state;
    turn.answer = answer;
    if (!turn.isStopping) host.update({ phase: 'streaming' });
    const dueMs = (turn.nextShownAt ?? 0) - performance.now();
    if (isNewState || dueMs <= 0) showAnswer(turn, host);
    else turn.timer ??= setTimeout(() => showAnswer(turn, host), dueMs);
    if (turn.isStopping && isNewTask && answer.state === 'working') void this.#cancel(turn, answer, host);
    this.suspendIfLeft(turn, host);
  }
}

/** A message without an answer would look delivered above the next one. */
function markUnanswered(host: TurnHost): void {
  const { messages } = host.getState();
  const [before, question] = messages.slice(-2);
  if (before?.role !== 'user' || question?.role !== 'user') return;
  const failed: ChatMessage = { id: `answer-to-${before.id}`, role: 'agent', text: '', state: 'failed' };
  host.update({ messages: [...messages.slice(0, -1), failed, question] });
}

function showAnswer(turn: Turn, host: TurnHost): void {
  clearTimeout(turn.timer);
  turn.timer = undefined;
  const { answer, answerId } = turn;
  if (!host.isCurrent(turn) || answer === undefined) return;
  const parts = partsOfAnswer(answer);
  const text = textOfParts(parts);
  turn.nextShownAt = performance.now() + SHOW_MS + text.length / CHARACTERS_PER_MS;
  const { taskId } = answer;
  const { state } = turn.isStopped ? stopped(answer) : answer;
  const isOpen = taskId !== '' && (state === 'input-required' || state === 'auth-required');
  host.setOpenTask(isOpen ? { id: taskId, seen: seenAfter(answer) } : undefined);
  const message: StoredMessage = { id: answerId, role: 'agent', text, state, parts };
  const { messages, contextId } = host.getState();
  const others = messages.filter(({ id }) => id !== answerId);
  host.update({ messages: [...others, message], contextId: answer.contextId || contextId });
}

/** Ends the request of a turn without a task. The agent may go on, which nothing can change. */
function endWithoutTask(turn: Turn, host: TurnHost): void {
  if (!host.isCurrent(turn) || (turn.answer?.taskId ?? '') !== '') return;
  turn.answer = { ...(turn.answer ?? emptyAnswer('')), state: 'stopped' };
  turn.abort.abort();
}

/** The answer after the agent confirmed the stop; some agents still call it complete. */
function stopped<Ended extends Answer | ChatMessage>(answer: Ended): Ended {
  return 'state' in answer && answer.state === 'complete' ? { ...answer, state: 'stopped' } : answer;
}

function takeFailure({ answerId, answer }: Turn, error: unknown, host: TurnHost, again: () => Promise<void>): void {
  if (error instanceof AnswerBrokenOff) {
    const unfinished = { answerId, answer: error.answer };
    host.fail(readableError(error.cause), () => host.resume(unfinished), unfinished);
  } else if (answer?.state === 'failed') {
    // The answer itself says that it failed.
    host.report(readableError(error));
  } else {
    host.fail(readableError(error), again);
  }
}

async function toRequest({ id, contextId, taskId, text, file, page }: OutgoingMessage): Promise<WireRequest> {
  if (file === undefined) return { id, contextId, taskId, text, file, page };
  const buffer = await file.arrayBuffer().catch((cause: unknown) => {
    throw new ChatError('file_unreadable', MESSAGES.fileUnreadable, { cause });
  });
  const bytes = base64Of(new Uint8Array(buffer));
  return { id, contextId, taskId, text, page, file: { name: file.name, mediaType: file.type, bytes } };
}

function base64Of(bytes: Uint8Array): string {
  // In slices, since the number of arguments of a call is limited.
  const SLICE = 0x8000;
  const slices = Array.from({ length: Math.ceil(bytes.length / SLICE) }, (_, index) =>
    String.fromCharCode(...bytes.subarray(index * SLICE, (index + 1) * SLICE)),
  );
  return btoa(slices.join(''));
}
