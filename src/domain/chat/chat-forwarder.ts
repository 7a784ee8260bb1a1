import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { CredentialAuth } from '../credentials/credential-broker.js';
import { AgentBffError, UpstreamError } from '../errors.js';
import { browserResponseHeaders, isForA2AClients } from '../upstream/header-policy.js';
import { isEventStream, isJson } from '../shared/media-type.js';
import { AGENT, PlatformCall, type PlatformCallDependencies, refuseRedirect } from '../upstream/platform-call.js';
import { type PlatformReply, refusesSite } from '../upstream/platform-error.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import type { ChatMessage } from './chat-message.js';
import type { MethodPolicy } from './method-policy.js';
import { isRpcErrorBody, MAX_ERROR_BYTES } from './rpc-error-body.js';
import { parsedJson } from '../shared/json.js';
import { bodyText } from '../upstream/body-bytes.js';
import { type CardRewrite, isAgentCard, MAX_CARD_VALUES, rewrittenCard } from './agent-card.js';

/** A chat request whose body the edge has read. */
export interface ChatRequest {
  readonly head: Pick<HttpRequest, 'headers' | 'native' | 'query' | 'signal'>;
  /** The JSON text as it will be sent. */
  readonly body: Uint8Array;
  /** What was read of that text. */
  readonly message: ChatMessage;
}

/** What the forwarder is made of. */
export interface ChatForwarderDependencies extends PlatformCallDependencies {
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  readonly telemetry: Telemetry;
}

/**
 * Forwards one chat request to the agent (spec §4.1).
 *
 *     browser ──(1) policy──► (2) credential ──► (3) send ──► agent
 *     browser ◄──(6) body──── (5) response ◄── (4) renew once on 401
 *
 * Steps 3 and 4 are those of every call to the platform: see `PlatformCall`.
 */
export class ChatForwarder {
  readonly #agent: Endpoint | undefined;
  readonly #telemetry: Telemetry;
  readonly #call: PlatformCall;

  constructor(dependencies: ChatForwarderDependencies) {
    this.#agent = dependencies.agent;
    this.#telemetry = dependencies.telemetry;
    this.#call = new PlatformCall(dependencies, AGENT);
  }

  /**
   * The agent's response as soon as its head is there; the body streams.
   *
   * @throws AgentBffError `not_found` when the query is none that crosses.
   * @throws RequestError when the policy refuses the method.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent gives no response that can be passed on.
   */
  async forward(request: ChatRequest, auth: CredentialAuth, policy: MethodPolicy): Promise<HttpResponse> {
    // (1)
    if (!isSafeQuery(request.head.query)) throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    policy.check(request.message.method, request.message);
    const agent = requireEndpoint('a2aUrl', this.#agent);
    // (2)
    const caller = await this.#call.caller(auth, request.head);
    // (3), (4)
    const { headers, query, signal } = request.head;
    const { origin, path } = agent;
    const { body } = request;
    const target = path + query;
    const reply = await this.#call.send(
      { method: 'POST', origin, path: target, browser: headers, contentType: 'application/json', body, signal },
      caller,
    );
    // (5), (6)
    return reply.response.status < 300 && isForA2AClients(reply.response)
      ? toBrowserResponse(reply)
      : this.#error(reply);
  }

  /** JSON-RPC errors pass at any status; any other error keeps its status and gets our body, and so does what only seems a success. */
  async #error(reply: PlatformReply): Promise<HttpResponse> {
    const { errors } = this.#call;
    const { status, headers } = reply.response;
    await refuseRedirect(reply.response, AGENT);
    if (status < 300 || (!isJson(headers) && !isEventStream(headers))) throw await errors.replacing(reply);
    const start = await errors.start(reply, MAX_ERROR_BYTES);
    const isRpc = start.isWhole && (await isRpcErrorBody(headers, start.bytes));
    if (!isRpc) throw await errors.replacing(reply, start);
    if (refusesSite(reply)) {
      // The visitor reads it as a message of the agent, and cannot know whose credential it is about.
      this.#telemetry.emit({ type: 'warning', code: 'credential_refused', detail: await errors.said(reply, start) });
    }
    return toBrowserResponse({ ...reply, response: { ...reply.response, body: start.bytes } });
  }
}

function toBrowserResponse({ response: { status, headers, body }, credential }: PlatformReply): HttpResponse {
  return { status, headers: browserResponseHeaders(headers, credential.fields?.response), body };
}

const METHODS: ReadonlySet<string> = new Set(['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']);
const MAX_REPLY = 1_048_576;

/** Whether the response to a method holds the extended card. */
export function isExtendedCardMethod(method: string): boolean {
  return METHODS.has(method);
}

/**
 * The agent's response to a request for its extended card, with the card in it rewritten as the public one is (decision 33).
 * Errors of the agent pass as they are.
 *
 * @throws UpstreamError when the response is not one JSON-RPC response, or its card cannot be rewritten.
 */
export async function rewriteExtendedCard(response: HttpResponse, rewrite: CardRewrite): Promise<HttpResponse> {
  if (response.status !== 200) return response;
  const { 'content-length': _length, etag: _etag, ...headers } = response.headers;
  const text = headers['content-encoding'] === undefined ? await bodyText(response.body, MAX_REPLY) : undefined;
  const reply = parsedJson(text, MAX_CARD_VALUES);
  if (typeof reply !== 'object' || reply === null || !('jsonrpc' in reply)) throw unreadable();
  if (!('result' in reply)) return { ...response, headers, body: text ?? '' };
  if (!isAgentCard(reply.result)) throw unreadable();
  const result = rewrittenCard(reply.result, rewrite);
  return { ...response, headers, body: JSON.stringify({ ...reply, result }) };
}

function unreadable(): UpstreamError {
  return new UpstreamError('upstream_invalid_response', {
    detail: 'The agent sent something else than its extended card.',
  });
}
