import { ChatError, MESSAGES } from '../chat-error.js';
import { AgentClient, readableError, readCard, type WireRequest } from './agent-client.js';
import { type Answer, AnswerBrokenOff, emptyAnswer } from './answer.js';
import { settled, takeEvent } from './answer-events.js';
import { type AnswerListener, AnswerReader } from './answer-reader.js';
import type { OutgoingMessage } from './chat-state.js';

export { partsOfAnswer, seenAfter } from './answer-events.js';

/** The agent as the browser reaches it: at the page's own origin, with no credential. Loaded by `ChatSession`. */
export class Agent {
  readonly name: string;
  readonly #client: AgentClient;

  /** `agentCard` may be missing; `a2aEndpoint` is an address or a path of the site. */
  constructor(agentCard: unknown, a2aEndpoint: string, fetchImpl: typeof fetch) {
    const { name, ...facts } = readCard(agentCard);
    this.name = name;
    this.#client = new AgentClient(new URL(a2aEndpoint, document.baseURI).href, fetchImpl, facts);
  }

  /**
   * Sends a message and reads the answer to its end.
   *
   * @throws AnswerBrokenOff when the connection is lost for good in the middle of it, else ChatError.
   */
  async send(
    message: OutgoingMessage,
    taskTimeoutMs: number,
    listener: AnswerListener,
    signal: AbortSignal,
  ): Promise<void> {
    const { id, taskId, contextId, seen } = message;
    const request = await toRequest(message);
    const answer = emptyAnswer(id, taskId, contextId, seen);
    await readable(() => new AnswerReader(this.#client, answer, taskTimeoutMs, listener, signal).send(request));
  }

  /**
   * Goes on reading an answer whose connection was lost.
   *
   * @throws AnswerBrokenOff when that fails.
   */
  async resume(answer: Answer, taskTimeoutMs: number, listener: AnswerListener, signal: AbortSignal): Promise<void> {
    await readable(() => new AnswerReader(this.#client, answer, taskTimeoutMs, listener, signal).resume());
  }

  /** Asks the agent to stop working on an answer; resolves to the answer as its task has it then. */
  async cancel(answer: Answer): Promise<Answer> {
    try {
      return settled(takeEvent(answer, await this.#client.cancel(answer.taskId)));
    } catch (error) {
      const readableOne = readableError(error);
      if (readableOne.code === 'connection_lost') throw readableOne;
      throw new ChatError('refused', MESSAGES.cannotStop, { cause: error });
    }
  }
}

async function toRequest({ id, contextId, taskId, text, file }: OutgoingMessage): Promise<WireRequest> {
  if (file === undefined) return { id, contextId, taskId, text, file };
  const buffer = await file.arrayBuffer().catch((cause: unknown) => {
    throw new ChatError('file_unreadable', MESSAGES.fileUnreadable, { cause });
  });
  const bytes = base64Of(new Uint8Array(buffer));
  return { id, contextId, taskId, text, file: { name: file.name, mediaType: file.type, bytes } };
}

function base64Of(bytes: Uint8Array): string {
  // In slices: one call takes only so many arguments.
  const SLICE = 0x8000;
  const slices = Array.from({ length: Math.ceil(bytes.length / SLICE) }, (_, index) =>
    String.fromCharCode(...bytes.subarray(index * SLICE, (index + 1) * SLICE)),
  );
  return btoa(slices.join(''));
}

async function readable(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AnswerBrokenOff) throw new AnswerBrokenOff(error.answer, readableError(error.cause));
    throw readableError(error);
  }
}
