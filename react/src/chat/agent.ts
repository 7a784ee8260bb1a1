import { type AgentCard, type Message, Role } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { A2AError } from '@a2a-js/sdk/errors';

import { ChatError, toChatError, unreachable } from '../chat-error.js';
import { type Answer, AnswerBrokenOff } from './answer.js';
import { AnswerStream, type StreamListener } from './answer-stream.js';
import { provideBuffer } from './browser-buffer.js';
import type { OutgoingMessage } from './chat-state.js';
import { filePart, textPart } from './file-part.js';

/** The agent as the browser reaches it: at the page's own origin, with no credential. Loaded by `ChatSession`, with the A2A client. */
export class Agent {
  readonly name: string;
  readonly #client: Client;

  private constructor(name: string, client: Client) {
    this.name = name;
    this.#client = client;
  }

  /** Makes a client from an agent card; `a2aEndpoint` is an address or a path of the site. */
  static async fromCard(agentCard: AgentCard, a2aEndpoint: string, fetchImpl: typeof fetch): Promise<Agent> {
    provideBuffer();
    const legacyCompat = { enabled: true }; // agents that speak A2A 0.3 only
    const cardResolver = new DefaultAgentCardResolver({ legacyCompat });
    const card = cardResolver.normalizeAgentCard(agentCard);
    // The card names the site as its server sees it; behind a development server the page lives elsewhere.
    const url = new URL(a2aEndpoint, document.baseURI).href;
    const supportedInterfaces = card.supportedInterfaces.map((agentInterface) => ({ ...agentInterface, url }));
    const transports = [new JsonRpcTransportFactory({ legacyCompat, fetchImpl })];
    const factory = new ClientFactory({ transports, cardResolver });
    return new Agent(card.name, await factory.createFromAgentCard({ ...card, supportedInterfaces }));
  }

  /**
   * Sends a message and reads the answer to its end.
   *
   * @throws AnswerBrokenOff when the connection is lost for good in the middle of it, else ChatError.
   */
  async send(message: OutgoingMessage, listener: StreamListener, signal: AbortSignal): Promise<void> {
    const wire = await toMessage(message);
    await speaking(() => new AnswerStream(this.#client, listener, signal).send(wire));
  }

  /**
   * Goes on reading an answer whose connection was lost.
   *
   * @throws AnswerBrokenOff when that fails.
   */
  async resume(answer: Answer, listener: StreamListener, signal: AbortSignal): Promise<void> {
    await speaking(() => new AnswerStream(this.#client, listener, signal).resume(answer));
  }

  /** Asks the agent to stop working on a task. */
  async cancel(taskId: string): Promise<void> {
    await speaking(() => this.#client.cancelTask({ tenant: '', id: taskId, metadata: {} }));
  }
}

async function toMessage({ id, contextId, taskId, text, file }: OutgoingMessage): Promise<Message> {
  const parts = [...(text === '' ? [] : [textPart(text)]), ...(file ? [await filePart(file)] : [])];
  return {
    messageId: id,
    contextId,
    taskId,
    role: Role.ROLE_USER,
    parts,
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
  };
}

/** Turns what the A2A client throws into what visitors are told. */
async function speaking(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof AnswerBrokenOff) throw new AnswerBrokenOff(error.answer, toError(error.cause));
    throw toError(error);
  }
}

function toError(error: unknown): ChatError {
  const refusal = error instanceof Error && error.cause instanceof A2AError ? error.cause : error;
  if (refusal instanceof A2AError) return new ChatError('refused', refusal.message, { cause: error });
  if (!(error instanceof Error) || error instanceof ChatError || isBrokenConnection(error)) return toChatError(error);
  // Every response that is none of an agent reaches us as a plain error: a page of the site or of some proxy, say.
  const [, status] = /^HTTP error.*?\b([1-5]\d\d)\b/.exec(error.message) ?? [];
  return unreachable(error, status === undefined ? undefined : Number(status));
}

/** What `fetch` and its streams throw (Fetch Standard, "network error"; an abort). */
function isBrokenConnection(error: Error): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}
