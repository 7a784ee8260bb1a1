import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import type { CredentialAuth } from '../credentials/credential-broker.js';
import { AgentBffError, UpstreamError } from '../errors.js';
import { parsedJson } from '../shared/json.js';
import { bodyText } from '../upstream/body-bytes.js';
import { browserResponseHeaders, isForA2AClients } from '../upstream/header-policy.js';
import { isJson } from '../shared/media-type.js';
import {
  AGENT,
  type CallContext,
  PlatformCall,
  type PlatformCallDependencies,
  refuseRedirect,
} from '../upstream/platform-call.js';
import type { Counterpart } from '../upstream/wrong-address.js';
import { type PlatformReply, refusesSite } from '../upstream/platform-error.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import {
  type AgentCardJson,
  type CardRewrite,
  isAgentCard,
  isSameOrigin,
  MAX_CARD_VALUES,
  records,
  rewrittenCard,
  textOf,
} from './agent-card.js';
import { readHttpJsonMessage } from './chat-message.js';
import type { HttpJsonCall } from './http-json-call.js';
import type { MethodPolicy } from './method-policy.js';
import { MAX_ERROR_BYTES } from './rpc-error-body.js';
import { withoutTrailingSlashes } from '../shared/paths.js';

/** What the binding is made of. */
export interface HttpJsonBindingDependencies extends PlatformCallDependencies {
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  /** Origin of the platform, which an extended card does not show. */
  readonly platformOrigin?: string | undefined;
  /** The agent's own card, as the config route knows it. */
  readonly card: (version: string, caller: CallContext) => Promise<AgentCardJson>;
}

/** A request of the binding whose body the edge has read. */
export interface HttpJsonRequest {
  readonly head: Pick<HttpRequest, 'method' | 'headers' | 'native' | 'query' | 'signal'>;
  readonly call: HttpJsonCall;
  /** Absent when the request has none. */
  readonly body: HttpJsonBody | undefined;
}

/** A JSON body of this binding. */
export interface HttpJsonBody {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters. */
  readonly type: string;
}

const HTTP_JSON = 'HTTP+JSON';
const INTERFACE: Counterpart = {
  ...AGENT,
  check: 'check "a2aUrl" in configureServer, and the address of the HTTP+JSON interface in the agent card',
};
const MAX_STORED = 1_048_576;

/**
 * Forwards calls of the HTTP+JSON binding to the interface the agent's card names for it.
 * Only an interface on the origin of `a2aUrl` is called: a card must not send the credential elsewhere.
 */
export class HttpJsonBinding {
  readonly #deps: HttpJsonBindingDependencies;
  readonly #call: PlatformCall;

  constructor(dependencies: HttpJsonBindingDependencies) {
    this.#deps = dependencies;
    this.#call = new PlatformCall(dependencies, INTERFACE);
  }

  /**
   * The agent's response as soon as its head is there; the body streams. An extended card is rewritten.
   *
   * @throws RequestError when the policy refuses the call.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent has no such interface, or gives no response that can be passed on.
   */
  async forward(
    request: HttpJsonRequest,
    auth: CredentialAuth,
    policy: MethodPolicy,
    rewrite: CardRewrite,
  ): Promise<HttpResponse> {
    const { head, call, body } = request;
    if (!isSafeQuery(head.query)) throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    const method = call.methods[head.method] ?? '';
    checkPolicy(method, body, policy);
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    const caller = await this.#call.caller(auth, head);
    const version = call.legacy ? '' : String(head.headers['a2a-version'] ?? '1.0');
    const base = interfacePath(await this.#deps.card(version, caller), agent, call.legacy);
    const reply = await this.#call.send(
      {
        method: head.method,
        origin: agent.origin,
        path: base + call.path + head.query,
        browser: head.headers,
        ...(body === undefined ? {} : { contentType: body.type }),
        body: body?.bytes ?? null,
        signal: head.signal,
      },
      caller,
    );
    const { status, headers, body: content } = await this.#passing(reply, head.method);
    const further = reply.credential.fields?.response;
    const passed = { status, headers: browserResponseHeaders(headers, further), body: content };
    if (method !== 'GetExtendedAgentCard' || status !== 200) return passed;
    return rewritten(passed, { ...rewrite, agentOrigin: agent.origin, platformOrigin: this.#deps.platformOrigin });
  }

  /** JSON errors pass, of 5xx those of the binding's own form; any other error keeps its status and gets our body, and so does what only seems a success. */
  async #passing(reply: PlatformReply, method: string): Promise<HttpResponse> {
    const { response } = reply;
    await refuseRedirect(response, INTERFACE);
    if (response.status < 300) {
      // What was removed is told by the status alone; the binding names no body for it.
      const isBare = method === 'DELETE' && response.headers['content-type'] === undefined;
      if (isBare || isForA2AClients(response)) return response;
      throw await this.#call.errors.replacing(reply);
    }
    if (refusesSite(reply) || !isJson(response.headers)) throw await this.#call.errors.replacing(reply);
    if (response.status < 500) return response;
    if (response.headers['content-encoding'] !== undefined) throw await this.#call.errors.replacing(reply);
    const start = await this.#call.errors.start(reply, MAX_ERROR_BYTES);
    if (start.isWhole && isBindingError(start.bytes)) return { ...response, body: start.bytes };
    throw await this.#call.errors.replacing(reply, start);
  }
}

function checkPolicy(method: string, body: HttpJsonBody | undefined, policy: MethodPolicy): void {
  // First without the body, so that what is denied anyway is not read.
  policy.check(method, undefined);
  // Here the path names the method, so a policy that denies nothing depends on nothing in the body.
  if (body !== undefined && policy.scrutiny === 'policy') policy.check(method, readHttpJsonMessage(body.bytes));
}

/** The path of the agent's HTTP+JSON interface for a generation, without a trailing slash. */
function interfacePath(card: AgentCardJson, agent: Endpoint, legacy: boolean): string {
  const offers = [
    ...listed(card['supportedInterfaces'], 'protocolBinding'),
    ...listed(card['additionalInterfaces'], 'transport'),
    ...listed([card], 'preferredTransport'),
  ].filter(({ url }) => isSameOrigin(url, agent.origin));
  const own = offers.find(({ old }) => old === legacy) ?? offers[0];
  if (own === undefined) {
    throw new UpstreamError('agent_binding_unsupported', {
      detail: 'The agent has no HTTP+JSON interface this site can forward to.',
      hint: 'Use the JSON-RPC binding, or let the agent offer HTTP+JSON on the host of "a2aUrl".',
      block: 'configureServer',
      fields: ['a2aUrl'],
    });
  }
  return withoutTrailingSlashes(new URL(own.url).pathname);
}

interface Offer {
  readonly url: string;
  readonly old: boolean;
}

function listed(entries: unknown, field: string): readonly Offer[] {
  return records(entries)
    .filter((entry) => textOf(entry[field]).toUpperCase() === HTTP_JSON)
    .map(({ url, protocolVersion }) => ({
      url: textOf(url),
      old: field !== 'protocolBinding' || textOf(protocolVersion).startsWith('0.'),
    }));
}

function isBindingError(bytes: Uint8Array): boolean {
  const value = parsedJson(new TextDecoder().decode(bytes)) as { error?: unknown } | null | undefined;
  return typeof value?.error === 'object' && value.error !== null;
}

async function rewritten(response: HttpResponse, rewrite: CardRewrite): Promise<HttpResponse> {
  const { 'content-length': _length, etag: _etag, ...headers } = response.headers;
  const isPlain = headers['content-encoding'] === undefined;
  const card = isPlain ? parsedJson(await bodyText(response.body, MAX_STORED), MAX_CARD_VALUES) : undefined;
  if (!isAgentCard(card)) {
    throw new UpstreamError('upstream_invalid_response', {
      detail: 'The agent sent something else than its extended card.',
    });
  }
  return { ...response, headers, body: JSON.stringify(rewrittenCard(card, rewrite)) };
}
