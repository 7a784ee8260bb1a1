import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { CredentialAuth } from '../credentials/credential-broker.js';
import { AgentBffError } from '../errors.js';
import { browserResponseHeaders, isEventStream, isForA2AClients, isJson } from '../upstream/header-policy.js';
import { AGENT, refuseRedirect } from '../upstream/platform-answer.js';
import { PlatformCall, type PlatformCallDependencies } from '../upstream/platform-call.js';
import { type PlatformReply, refusesSite } from '../upstream/platform-error.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import type { ChatMessage } from './chat-message.js';
import type { MethodPolicy } from './method-policy.js';
import { isRpcErrorBody, MAX_ERROR_BYTES } from './rpc-error-body.js';

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
 *     browser ◄──(6) body───── (5) answer ◄── (4) renew once on 401
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
   * The agent's answer as soon as its head is there; the body streams.
   *
   * @throws AgentBffError `not_found` when the query is none that crosses.
   * @throws RequestError when the policy refuses the method.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent gives no answer that can be passed on.
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

  /** JSON-RPC errors pass at any status; any other error keeps its status and gets our body (DESIGN §5), and so does what only seems a success. */
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
