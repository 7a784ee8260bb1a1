import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { RouteAuth } from '../credentials/route-auth.js';
import { AgentBffError, UpstreamError } from '../shared/errors.js';
import { isObject, parsedJson } from '../shared/json.js';
import { browserResponseHeaders, isForA2AClients } from '../upstream/header-policy.js';
import { isJson } from '../shared/body.js';
import { type Endpoint, requireEndpoint } from '../upstream/platform-call.js';
import {
  refuseRedirect,
  AGENT,
  type Counterpart,
  type PlatformReply,
  refusesSite,
} from '../upstream/platform-error.js';
import { isSafeQuery, decodeSegment } from '../upstream/safe-path.js';
import {
  type AgentCardJson,
  type CardRewrite,
  isAgentCard,
  isSameOrigin,
  records,
  rewrittenCard,
  textOf,
  withCardEdited,
} from './agent-card.js';
import { type ChatMessage, readHttpJsonMessage } from './chat-message.js';
import {
  type AgentCalls,
  type ChatCallOptions,
  checkTenants,
  exchanged,
  guardedFields,
  queryTenants,
} from './conversations.js';
import type { MethodPolicy } from './method-policy.js';
import { withoutTrailingSlashes } from '../shared/paths.js';

/** A request of the binding whose body the web adapter has read. */
export interface HttpJsonRequest {
  readonly head: Pick<HttpRequest, 'method' | 'headers' | 'native' | 'query' | 'signal'>;
  readonly call: HttpJsonCall;
  /** Absent if the request has none. */
  readonly body: HttpJsonBody | undefined;
}

/** A JSON body of this binding. */
export interface HttpJsonBody {
  readonly bytes: Uint8Array;
  /** Its media type, without parameters. */
  readonly type: string;
}

const HTTP_JSON = 'HTTP+JSON';
/** The fields of our own request, which has no body. */
const QUESTION: HeaderFields = { accept: 'application/json', 'content-type': undefined };
const INTERFACE: Counterpart = {
  ...AGENT,
  check: 'check "a2aUrl" in configureServer, and the address of the HTTP+JSON interface in the agent card',
};

/**
 * Forwards calls of the HTTP+JSON binding to the interface that the agent's card names for it. Only an interface on the
 * origin of `a2aUrl` is called: a card must not redirect the credential.
 */
export class HttpJsonBinding {
  readonly #deps: AgentCalls;

  constructor(dependencies: AgentCalls) {
    this.#deps = dependencies;
  }

  /**
   * The agent's response once its head has arrived; the body streams. An extended card is rewritten.
   *
   * @throws RequestError when the policy refuses the call.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent has no such interface, or sends no response that can be passed on.
   */
  async forward(
    request: HttpJsonRequest,
    auth: RouteAuth,
    policy: MethodPolicy,
    rewrite: CardRewrite,
    options: ChatCallOptions = {},
  ): Promise<HttpResponse> {
    const { head, call, body } = request;
    if (!isSafeQuery(head.query)) throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    const method = call.methods[head.method] ?? '';
    const message = checkedMessage(method, body, policy, options);
    const { call: platform, timeouts, card, platformOrigin } = this.#deps;
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    const caller = await platform.bareCaller(auth, head);
    const version = call.legacy ? '' : String(head.headers['a2a-version'] ?? '1.0');
    const found = await card(version, await platform.withFields(caller));
    const base = interfacePath(found, agent, call.legacy);
    const tenants = [call.tenant, ...(message?.tenants ?? []), ...queryTenants(head.query)].filter((one) => one !== '');
    await checkTenants(tenants, HTTP_JSON, options, () => Promise.resolve(found));
    const shared = {
      counterpart: INTERFACE,
      timeouts,
      origin: agent.origin,
      browser: options.conversations === undefined ? head.headers : guardedFields(head.headers),
      signal: head.signal,
    };
    const [tenant] = tenants;
    const ofTenant = tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
    const prefix = base + (call.legacy ? '/v1' : ofTenant);
    const reply = await exchanged(
      platform,
      {
        method,
        body: body === undefined || message === undefined ? undefined : { bytes: body.bytes, message },
        query: head.query,
        binding: HTTP_JSON,
        taskId: call.taskId,
        tenants,
        caller,
        ask: async (taskId) => {
          const path = `${prefix}/tasks/${encodeURIComponent(taskId)}?historyLength=0${versionIn(head.query)}`;
          const asking = await platform.withFields(caller, { method: 'GetTask', taskId });
          return platform.send({ ...shared, method: 'GET', path, own: QUESTION, body: null }, asking);
        },
      },
      options,
      (bytes, sender) =>
        platform.send(
          {
            ...shared,
            method: head.method,
            path: base + call.path + head.query,
            ...(body === undefined ? {} : { contentType: body.type }),
            body: bytes,
          },
          sender,
        ),
    );
    const { status, headers, body: content } = await this.#passing(reply, head.method);
    const further = reply.credential.fields?.response;
    const passed = { status, headers: browserResponseHeaders(headers, further), body: content };
    if (method !== 'GetExtendedAgentCard' || status >= 300) return passed;
    const toSite = { ...rewrite, agentOrigin: agent.origin, platformOrigin };
    return withCardEdited(passed, (card) =>
      isAgentCard(card) ? JSON.stringify(rewrittenCard(card, toSite)) : undefined,
    );
  }

  /**
   * Passes JSON errors below 500, and of 5xx those in the binding's own form. Any other error keeps its status but gets
   * our body, and so does a response that only looks like a success.
   */
  async #passing(reply: PlatformReply, method: string): Promise<HttpResponse> {
    const { response } = reply;
    const { errors } = this.#deps.call;
    refuseRedirect(response, INTERFACE);
    if (response.status < 300) {
      // The status alone confirms a deletion; the binding defines no body for it.
      const isBare = method === 'DELETE' && response.headers['content-type'] === undefined;
      if (isBare || isForA2AClients(response)) return response;
      throw await errors.replacing(reply);
    }
    if (refusesSite(reply) || !isJson(response.headers)) throw await errors.replacing(reply);
    if (response.status < 500) return response;
    if (response.headers['content-encoding'] !== undefined) throw await errors.replacing(reply);
    const start = await errors.start(reply);
    const value = start.isWhole ? parsedJson(new TextDecoder().decode(start.bytes)) : undefined;
    if (isObject(value) && isObject(value['error'])) return { ...response, body: start.bytes };
    throw await errors.replacing(reply, start);
  }
}

/** The message of a call that the policy admits; absent if the call has no body. */
function checkedMessage(
  method: string,
  body: HttpJsonBody | undefined,
  policy: MethodPolicy,
  options: ChatCallOptions,
): ChatMessage | undefined {
  // First without the body, which need not be read if the method is denied anyway.
  policy.check(method, undefined);
  if (body === undefined) return undefined;
  const { scrutiny, isPlaced } = options.reading ?? { scrutiny: policy.scrutiny, isPlaced: false };
  // The path names the method. The message may contain anything, so only its tenant is read.
  const message = readHttpJsonMessage(body.bytes, scrutiny, isPlaced);
  policy.check(method, message);
  return message;
}

/** The version that a query names, for a further query. */
function versionIn(query: string): string {
  const [, version] = /[?&](A2A-Version=[\w.]*)/i.exec(query) ?? [];
  return version === undefined ? '' : `&${version}`;
}

/** The path of the agent's HTTP+JSON interface for a protocol version, without a trailing slash. */
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
      hint: 'Use the JSON-RPC binding, or enable HTTP+JSON on the agent, on the host of "a2aUrl".',
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

/** A call in the HTTP+JSON binding, by its path. */
export interface HttpJsonCall {
  /** The A2A method for each HTTP method of this path. */
  readonly methods: Readonly<Record<string, string>>;
  /** The path below the agent's interface, re-encoded. */
  readonly path: string;
  /** The tenant before the path, decoded; empty if there is none. */
  readonly tenant: string;
  /** The task in the path, decoded; absent if there is none. */
  readonly taskId?: string;
  /** True for the binding of v0.3, whose paths start with `/v1`. */
  readonly legacy: boolean;
}

/** Paths of the binding (A2A v1.0 §11; v0.3 has the same below `/v1`). The first match decides. */
const PATHS: Readonly<Record<string, HttpJsonCall['methods']>> = {
  '/message:send': { POST: 'SendMessage' },
  '/message:stream': { POST: 'SendStreamingMessage' },
  '/extendedAgentCard': { GET: 'GetExtendedAgentCard' },
  '/tasks': { GET: 'ListTasks' },
  '/tasks/{id}:cancel': { POST: 'CancelTask' },
  // The specification says POST, its protocol buffers say GET, and clients use either.
  '/tasks/{id}:subscribe': { GET: 'SubscribeToTask', POST: 'SubscribeToTask' },
  '/tasks/{id}': { GET: 'GetTask' },
  '/tasks/{id}/pushNotificationConfigs': {
    GET: 'ListTaskPushNotificationConfigs',
    POST: 'CreateTaskPushNotificationConfig',
  },
  '/tasks/{id}/pushNotificationConfigs/{config}': {
    GET: 'GetTaskPushNotificationConfig',
    DELETE: 'DeleteTaskPushNotificationConfig',
  },
};
const OLD_CARD = '/card';

const READERS = Object.entries(PATHS).map(([template, methods]) => ({
  template,
  methods,
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+?)')}$`),
}));
const ROOTS = /^\/(?:message:|tasks(?:\/|$)|extendedAgentCard$)/;

/** Parses a raw path below the mount point; `undefined` if it is not part of the binding. */
export function httpJsonCall(path: string): HttpJsonCall | undefined {
  const legacy = path.startsWith('/v1/');
  if (legacy) return known(path === `/v1${OLD_CARD}` ? '/extendedAgentCard' : path.slice(3), '', true);
  if (ROOTS.test(path)) return known(path, '', false);
  // v1.0 allows a tenant before the path.
  const [, tenant = '', rest = ''] = /^\/([^/]+)(\/.+)$/.exec(path) ?? [];
  const decoded = decodeSegment(tenant);
  return decoded === undefined ? undefined : known(rest, decoded, false);
}

function known(path: string, tenant: string, legacy: boolean): HttpJsonCall | undefined {
  for (const { template, methods, pattern } of READERS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const values = match.slice(1).map(segment);
    if (values.includes(undefined)) return undefined;
    const written = legacy && template === '/extendedAgentCard' ? OLD_CARD : template;
    const prefix = legacy ? '/v1' : tenant && `/${encodeURIComponent(tenant)}`;
    const [id] = values;
    const address = prefix + written.replaceAll(/\{\w+\}/g, () => values.shift() ?? '');
    return { methods, legacy, tenant, path: address, ...(id === undefined ? {} : { taskId: decodeURIComponent(id) }) };
  }
  return undefined;
}

/** An id, re-encoded; `undefined` if a parser could confuse it with another call. */
function segment(raw: string): string | undefined {
  const decoded = decodeSegment(raw);
  return decoded === undefined || endsInCall(decoded) ? undefined : encodeURIComponent(decoded);
}

/** True if an id in a path could be parsed as a call on another task, such as `7:cancel`. */
export function endsInCall(id: string): boolean {
  return /(?::|%(?:25)*3a)(?:cancel|subscribe)$/i.test(id);
}
