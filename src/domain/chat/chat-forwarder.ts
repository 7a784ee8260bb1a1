import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { CredentialPlan } from '../credentials/credential-broker.js';
import { AgentBffError } from '../errors.js';
import { parsedJson } from '../parsed-json.js';
import { bodyBytes } from '../upstream/body-bytes.js';
import { discardBody } from '../upstream/body-text.js';
import { browserResponseHeaders, mediaType } from '../upstream/header-policy.js';
import { AGENT, refuseRedirect, serverError } from '../upstream/platform-answer.js';
import { PlatformCall, type PlatformCallDependencies } from '../upstream/platform-call.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import type { ChatMessage } from './chat-message.js';
import type { MethodPolicy } from './method-policy.js';

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
}

/** A stored error answer is read up to here to see whether it is JSON-RPC. */
const ERROR_BODY_LIMIT = 65_536;

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
  readonly #call: PlatformCall;

  constructor(dependencies: ChatForwarderDependencies) {
    this.#agent = dependencies.agent;
    this.#call = new PlatformCall(dependencies, AGENT);
  }

  /**
   * The agent's answer as soon as its head is there; the body streams.
   *
   * @throws AgentBffError `not_found` when the query is none that crosses.
   * @throws RequestError when the policy refuses the method.
   * @throws ServiceAuthError and SessionError when there is no credential.
   * @throws UpstreamError when the agent gives no answer that can be passed on.
   */
  async forward(request: ChatRequest, plan: CredentialPlan, policy: MethodPolicy): Promise<HttpResponse> {
    // (1)
    if (!isSafeQuery(request.head.query)) throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    policy.check(request.message.method, request.message);
    const agent = requireEndpoint('a2aUrl', this.#agent);
    // (2)
    const caller = await this.#call.caller(plan, request.head);
    // (3), (4)
    const { headers, query, signal } = request.head;
    const { origin, path } = agent;
    const { body } = request;
    const target = path + query;
    const response = await this.#call.send(
      { method: 'POST', origin, path: target, browser: headers, contentType: 'application/json', body, signal },
      caller,
    );
    // (5), (6)
    return response.status < 300 ? passed(response) : passOn(response);
  }
}

async function passOn(response: HttpResponse): Promise<HttpResponse> {
  await refuseRedirect(response, AGENT);
  return response.status >= 500 ? agentError(response) : passed(response);
}

function passed({ status, headers, body }: HttpResponse): HttpResponse {
  return { status, headers: browserResponseHeaders(headers), body };
}

/** JSON-RPC errors pass at any status; another 5xx keeps its status and gets our body (DESIGN §5). */
async function agentError(response: HttpResponse): Promise<HttpResponse> {
  const { status, headers, body } = response;
  if (mediaType(headers) === 'application/json' && headers['content-encoding'] === undefined) {
    const bytes = await bodyBytes(body, ERROR_BODY_LIMIT);
    if (bytes !== undefined && isRpcError(bytes)) {
      return { status, headers: browserResponseHeaders(headers), body: bytes };
    }
  } else {
    await discardBody(body);
  }
  throw serverError(response, AGENT);
}

function isRpcError(bytes: Uint8Array): boolean {
  const value = parsedJson(new TextDecoder().decode(bytes));
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && 'error' in value;
}
