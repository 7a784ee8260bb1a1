import type { HttpRequest, HttpResponse, HttpUpstream, UpstreamOutcome } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import type { CredentialBroker, CredentialPlan } from '../credentials/credential-broker.js';
import { RequestError, ServiceAuthError, UpstreamError } from '../errors.js';
import { browserResponseHeaders, mediaType, upstreamRequestHeaders } from '../upstream/header-policy.js';
import { type Endpoint, requireEndpoint } from '../upstream/upstream-request.js';
import { hasRepeatedName } from './json-names.js';
import { rpcEnvelope } from './json-rpc.js';
import type { MethodPolicy } from './method-policy.js';

/** A chat request whose body the edge has read. */
export interface ChatRequest {
  readonly head: Pick<HttpRequest, 'headers' | 'native' | 'query' | 'signal'>;
  /** The JSON text as it will be sent. */
  readonly body: Uint8Array | string;
  /** The same body, parsed; called only when a policy has to look. */
  readonly parsed: () => unknown;
  /** The same body as text; called only when a policy has to look and no parser of the host ran. */
  readonly text: () => string | undefined;
}

/** What the forwarder is made of. */
export interface ChatForwarderDependencies {
  readonly upstream: HttpUpstream;
  readonly credentials: CredentialBroker;
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  readonly headersMs: number;
  readonly bodyIdleMs: number;
}

/** A stored error answer is read up to here to see whether it is JSON-RPC. */
const ERROR_BODY_LIMIT = 65_536;
/** How deep a request is searched for repeated names: body, `params`, `configuration`. */
const POLICY_DEPTH = 3;

/**
 * Forwards one chat request to the agent (spec §4.1).
 *
 *     browser ──(1) policy──► (2) credential ──► (3) send ──► agent
 *     browser ◄──(6) body───── (5) answer ◄── (4) renew once on 401
 */
export class ChatForwarder {
  readonly #deps: ChatForwarderDependencies;

  constructor(dependencies: ChatForwarderDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The agent's answer as soon as its head is there; the body streams.
   *
   * @throws RequestError when the policy refuses the method.
   * @throws ServiceAuthError and SessionError when there is no credential.
   * @throws UpstreamError when the agent gives no answer that can be passed on.
   */
  async forward(request: ChatRequest, plan: CredentialPlan, policy: MethodPolicy): Promise<HttpResponse> {
    // (1)
    checkPolicy(request, policy);
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    // (2)
    let credential = await this.#deps.credentials.obtain(plan, request.head);
    // (3)
    let response = answered(await this.#send(request, agent, credential));
    // (4) A 401 says that nothing was processed, so the same body may be sent again (a2a-and-surfaces.md M12).
    if (response.status === 401) {
      const platformDate = String(response.headers['date'] ?? '');
      const renewed = await this.#deps.credentials.renew(plan, credential, request.head, platformDate);
      // A user's own token that is refused is the user's matter: the answer passes.
      if (renewed === undefined && credential.kind === 'session') return passOn(response);
      await discard(response);
      if (renewed === undefined) throw tokenRejected(credential);
      credential = renewed;
      response = answered(await this.#send(request, agent, credential));
      if (response.status === 401 && credential.kind !== 'session') {
        await discard(response);
        throw tokenRejected(credential);
      }
    }
    // (5), (6)
    return passOn(response);
  }

  #send(request: ChatRequest, agent: Endpoint, credential: Credential): Promise<UpstreamOutcome> {
    const { headers, query, signal } = request.head;
    return this.#deps.upstream.send({
      method: 'POST',
      origin: agent.origin,
      path: agent.path + query,
      headers: upstreamRequestHeaders(headers, credential.headers),
      body: request.body,
      signal,
      headersMs: this.#deps.headersMs,
      bodyIdleMs: this.#deps.bodyIdleMs,
    });
  }
}

function checkPolicy(request: ChatRequest, policy: MethodPolicy): void {
  if (policy.open) return;
  const envelope = rpcEnvelope(request.parsed());
  const text = request.text();
  if (envelope === undefined || (text !== undefined && hasRepeatedName(text, POLICY_DEPTH))) {
    throw new RequestError('body_invalid', {
      detail: 'The request body is not one JSON-RPC 2.0 request.',
      hint: 'Send one object with "jsonrpc", "id", "method" and "params", each once.',
      rpcCode: -32600,
    });
  }
  policy.check(envelope);
}

function answered(outcome: UpstreamOutcome): HttpResponse {
  if (outcome.kind === 'response') return outcome.response;
  const log = outcome.detail;
  switch (outcome.reason) {
    case 'timeout':
      throw new UpstreamError('upstream_timeout', {
        detail: 'The agent did not answer in time.',
        retryable: true,
        log,
      });
    case 'invalid':
      throw new UpstreamError('upstream_invalid_response', {
        detail: 'The agent sent an answer that is not valid HTTP.',
        log,
      });
    case 'unreachable':
    case 'reset':
    case 'aborted':
      throw new UpstreamError('upstream_unreachable', { detail: 'The agent cannot be reached.', retryable: true, log });
  }
}

async function passOn(response: HttpResponse): Promise<HttpResponse> {
  const { status } = response;
  if (status >= 300 && status < 400) {
    await discard(response);
    throw new UpstreamError('upstream_redirect', {
      detail: 'The agent answered with a redirect, which is never followed.',
      hint: 'Set "a2aUrl" in configureServer to the final address of the agent.',
      block: 'configureServer',
      fields: ['a2aUrl'],
      log: `status ${String(status)} from the agent`,
    });
  }
  if (status >= 500) return serverError(response);
  return { status, headers: browserResponseHeaders(response.headers), body: response.body };
}

/** JSON-RPC errors pass at any status; another 5xx keeps its status and gets our body (DESIGN §5). */
async function serverError(response: HttpResponse): Promise<HttpResponse> {
  const { status } = response;
  if (mediaType(response.headers) === 'application/json' && response.headers['content-encoding'] === undefined) {
    const bytes = await readUpTo(response.body, ERROR_BODY_LIMIT);
    if (bytes !== undefined && isRpcError(bytes)) {
      return { status, headers: browserResponseHeaders(response.headers), body: bytes };
    }
  } else {
    await discard(response);
  }
  throw new UpstreamError('upstream_error', {
    detail: 'The agent reported an error of its own.',
    retryable: status === 503,
    upstreamStatus: status,
    ...retryAfter(response),
    log: `status ${String(status)} from the agent`,
  });
}

function retryAfter(response: HttpResponse): { retryAfterMs?: number } {
  const seconds = Number(response.headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1000 } : {};
}

function isRpcError(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null && 'jsonrpc' in value && 'error' in value;
  } catch {
    return false;
  }
}

/** The whole body, or `undefined` when it is longer than `limit` or breaks. */
async function readUpTo(body: HttpResponse['body'], limit: number): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array();
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > limit) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** Ends an answer nobody will read, so that its connection is free. */
async function discard(response: HttpResponse): Promise<void> {
  const { body } = response;
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}

function tokenRejected(credential: Credential): ServiceAuthError {
  const { block } = credential;
  return new ServiceAuthError('service_token_rejected', {
    detail: 'The platform refused the service credential.',
    hint:
      block === 'serviceApiKey'
        ? 'Check "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".'
        : `Check the "${block}" configuration block: the platform must know this client or key, its audience and its role.`,
    block,
    fields:
      block === 'serviceAccount' ? ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'] : [],
  });
}
