import type { HttpRequest, HttpResponse, HeaderFields } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { AgentBffError } from '../shared/errors.js';
import { bodyBytes } from '../upstream/body-bytes.js';
import { browserResponseHeaders, isForA2AClients } from '../upstream/header-policy.js';
import { isEventStream, isJson } from '../shared/body.js';
import { type CallContext, type PlatformMessage, requireEndpoint } from '../upstream/platform-call.js';
import {
  AGENT,
  MAX_ERROR_BYTES,
  platformError,
  type PlatformReply,
  refuseRedirect,
  refusesSite,
} from '../upstream/platform-error.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import type { ChatMessage } from './chat-message.js';
import { type AgentCalls, type ChatCallOptions, checkTenants, exchanged, guardedFields } from './conversations.js';
import type { MethodPolicy } from './method-policy.js';
import { isObject, parsedJson } from '../shared/json.js';
import { type AgentCardJson, type CardRewrite, isAgentCard, rewrittenCard, withCardEdited } from './agent-card.js';
import { EVENT_END, eventData } from '../shared/server-sent-events.js';

/** A chat request whose body the web adapter has read. */
export interface ChatRequest {
  readonly head: Pick<HttpRequest, 'headers' | 'native' | 'query' | 'signal'>;
  /** The JSON text that will be sent. */
  readonly body: Uint8Array;
  /** The facts read from that text. */
  readonly message: ChatMessage;
}

export interface ChatForwarderDependencies extends AgentCalls {
  readonly telemetry: Telemetry;
}

/**
 * Forwards one chat request to the agent.
 *
 *     browser ──(1) policy──► (2) credential ──► (3) send ──► agent
 *     browser ◄──(6) body──── (5) response ◄── (4) renew once on 401
 *
 * Steps 3 and 4 are those of every call to the platform: see `PlatformCall`.
 */
export class ChatForwarder {
  readonly #deps: ChatForwarderDependencies;

  constructor(dependencies: ChatForwarderDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The agent's response once its head has arrived; the body streams.
   *
   * @throws AgentBffError `not_found` when the query is not safe to forward.
   * @throws RequestError when the policy refuses the method.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent sends no response that can be passed on.
   */
  async forward(
    request: ChatRequest,
    auth: RouteAuth,
    policy: MethodPolicy,
    options: ChatCallOptions = {},
  ): Promise<HttpResponse> {
    // (1)
    if (request.head.query !== '' && !isSafeQuery(request.head.query))
      throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    policy.check(request.message.method, request.message);
    const { call, timeouts, agent, card } = this.#deps;
    const { origin, path } = requireEndpoint('a2aUrl', agent);
    // (2)
    const makesFields = auth.fields?.make !== undefined;
    const caller = await (makesFields ? call.bareCaller(auth, request.head) : call.caller(auth, request.head));
    const { headers, query, signal } = request.head;
    const { message, body } = request;
    const { tenants } = message;
    if (tenants !== undefined) {
      const lookup = async (): Promise<AgentCardJson> =>
        card(String(headers['a2a-version'] ?? ''), await call.withFields(caller));
      await checkTenants(tenants, 'JSONRPC', options, lookup);
    }
    const sending = {
      counterpart: AGENT,
      timeouts,
      method: 'POST',
      origin,
      path: path + query,
      browser: options.conversations === undefined ? headers : guardedFields(headers),
      contentType: 'application/json',
      body,
      signal,
    };
    // (3), (4)
    const { conversations, metadata } = options;
    // Most sites have no rules for messages.
    const isPlain = conversations === undefined && metadata === undefined && !makesFields;
    const reply = isPlain ? await call.send(sending, caller) : await this.#exchanged(sending, request, caller, options);
    // (5), (6)
    return reply.response.status < 300 && isForA2AClients(reply.response)
      ? toBrowserResponse(reply)
      : this.#error(reply);
  }

  /**
   * The response to a request for the agent's extended card, with the card rewritten like the public one (decision 30).
   *
   * @throws UpstreamError as `rewriteExtendedCard` does.
   */
  toExtendedCard(response: HttpResponse, rewrite: CardRewrite): Promise<HttpResponse> {
    const { agent, platformOrigin } = this.#deps;
    const { origin: agentOrigin } = requireEndpoint('a2aUrl', agent);
    return rewriteExtendedCard(response, { ...rewrite, agentOrigin, platformOrigin });
  }

  /** Sends it with the changes that the route's options require. */
  #exchanged(
    sending: PlatformMessage,
    { head, message, body }: ChatRequest,
    caller: CallContext,
    options: ChatCallOptions,
  ): Promise<PlatformReply> {
    const { call } = this.#deps;
    const { method, tenants = [] } = message;
    const ask = async (taskId: string): Promise<PlatformReply> => {
      const question = taskQuestion(method, taskId, tenants[0]);
      const asking = await call.withFields(caller, { method: 'GetTask', taskId });
      return call.send({ ...sending, own: { accept: 'application/json' }, body: question }, asking);
    };
    return exchanged(
      call,
      { method, body: { bytes: body, message }, query: head.query, binding: 'JSONRPC', tenants, caller, ask },
      options,
      (bytes, sender) => call.send(bytes === body ? sending : { ...sending, body: bytes }, sender),
    );
  }

  /**
   * Passes JSON-RPC errors at any status. Any other error keeps its status but gets our body, and so does a response
   * that only looks like a success.
   */
  async #error(reply: PlatformReply): Promise<HttpResponse> {
    const { errors } = this.#deps.call;
    const { status, headers } = reply.response;
    refuseRedirect(reply.response, AGENT);
    if (status < 300 || (!isJson(headers) && !isEventStream(headers))) throw await errors.replacing(reply);
    const start = await errors.start(reply);
    const isRpc = start.isWhole && (await isRpcErrorBody(headers, start.bytes));
    if (!isRpc) throw await errors.replacing(reply, start);
    if (refusesSite(reply)) {
      // The visitor reads this as a message from the agent, and cannot know whose credential was rejected.
      const said = await errors.said(reply, start);
      const { message: summary, block = '', fields } = platformError(reply, AGENT, said);
      const detail = `${summary} ${said}`;
      this.#deps.telemetry.emit({ type: 'warning', code: 'credential_refused', summary, detail, block, fields });
    }
    return toBrowserResponse({ ...reply, response: { ...reply.response, body: start.bytes } });
  }
}

function toBrowserResponse({ response: { status, headers, body }, credential }: PlatformReply): HttpResponse {
  return { status, headers: browserResponseHeaders(headers, credential.fields?.response), body };
}

/** A request for a task, in the version of the visitor's method. */
function taskQuestion(method: string, id: string, tenant: string | undefined): Uint8Array {
  const params = { id, historyLength: 0, tenant };
  const name = method.includes('/') ? 'tasks/get' : 'GetTask';
  return new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params }));
}

/**
 * The agent's response with the extended card in it rewritten. Errors of the agent pass unchanged.
 *
 * @throws UpstreamError when the response is not one JSON-RPC response, or its card cannot be rewritten.
 */
export async function rewriteExtendedCard(response: HttpResponse, rewrite: CardRewrite): Promise<HttpResponse> {
  if (response.status >= 300) return response;
  return withCardEdited(response, (reply, text) => {
    if (!isObject(reply) || !('jsonrpc' in reply)) return undefined;
    if (!('result' in reply)) return text;
    const card = reply['result'];
    return isAgentCard(card) ? JSON.stringify({ ...reply, result: rewrittenCard(card, rewrite) }) : undefined;
  });
}

const FORMATS: Readonly<Record<string, CompressionFormat>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' };

/**
 * True if a body contains only JSON-RPC errors (JSON-RPC 2.0 §5.1), which are meant for the client: one, a batch, or an
 * event stream with one in each event. Compressed bodies are decompressed first.
 */
async function isRpcErrorBody(headers: HeaderFields, body: Uint8Array): Promise<boolean> {
  const bytes = await decoded(body, headers['content-encoding']);
  if (bytes === undefined) return false;
  const text = new TextDecoder().decode(bytes);
  const data = text.split(EVENT_END).map(eventData).filter(Boolean);
  const values = isEventStream(headers) ? data.map((one) => parsedJson(one)) : [parsedJson(text)].flat();
  return values.length > 0 && values.every(isRpcError);
}

function isRpcError(value: unknown): boolean {
  return isObject(value) && 'jsonrpc' in value && isObject(value['error']);
}

/** The bytes without their coding; `undefined` if it is unknown, does not match, or hides more than an error. */
async function decoded(body: Uint8Array, coding: HeaderFields[string]): Promise<Uint8Array | undefined> {
  if (coding === undefined || coding === 'identity') return body;
  const format = typeof coding === 'string' ? FORMATS[coding.toLowerCase()] : undefined;
  if (format === undefined) return undefined;
  const stream = new Blob([body as BlobPart]).stream().pipeThrough(new DecompressionStream(format));
  return bodyBytes(stream as unknown as AsyncIterable<Uint8Array>, MAX_ERROR_BYTES);
}
