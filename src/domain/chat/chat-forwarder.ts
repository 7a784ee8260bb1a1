import type { HeaderFields, HttpRequest, HttpResponse } from '../../ports/http.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { MessageFacts, RouteAuth } from '../credentials/route-auth.js';
import { AgentBffError } from '../shared/errors.js';
import { browserResponseHeaders, isForA2AClients } from '../shared/header-policy.js';
import {
  type Caller,
  type CallTimeouts,
  type Endpoint,
  type PlatformCall,
  type PlatformMessage,
  requireEndpoint,
} from '../upstream/platform-call.js';
import { AGENT, type Counterpart, type PlatformReply } from '../upstream/platform-error.js';
import { isSafeQuery } from '../upstream/safe-path.js';
import type { AgentCardJson, CardRewrite } from './agent-card.js';
import { checkTenants, declaredTenants, restInterface } from './agent-interfaces.js';
import { passedError, withExtendedCard } from './agent-reply.js';
import type { A2ACall } from './call.js';
import type { Conversation, ConversationCheck } from './conversation-guard.js';
import type { MethodPolicy } from './method-policy.js';
import { sentBytes, type SiteMetadata } from './sent-message.js';

export interface ChatForwarderDependencies {
  readonly call: PlatformCall;
  readonly timeouts: CallTimeouts;
  readonly telemetry: Telemetry;
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  /** Origin of the platform, removed from extended cards. */
  readonly platformOrigin?: string | undefined;
  /** Returns the agent's own card, from the cache of the config route. */
  readonly card: (version: string, caller: Caller) => Promise<AgentCardJson>;
  /** Resolves after other requests have run. */
  readonly nextTurn: () => Promise<void>;
}

/** Bytes of a message that takes noticeable time to parse. */
const LONG_BYTES = 262_144;

/** The settings of one chat route. */
export interface ChatRules {
  readonly auth: RouteAuth;
  readonly policy: MethodPolicy;
  /** The one tenant that messages may name. Default: those of the agent's card. */
  readonly tenant?: string | undefined;
  /** Absent if metadata crosses as it is. */
  readonly metadata?: SiteMetadata | undefined;
  /** Absent if conversations are open to anyone who knows their id. */
  readonly conversations?: ConversationCheck | undefined;
  /** The site's name of the visitor, if it knows one. */
  readonly visitor?: string | null | undefined;
  /** The entrance that an extended card names; absent for other calls. */
  readonly rewrite?: CardRewrite | undefined;
}

/** The request of a call, whose body was read. */
export type ChatHead = Pick<HttpRequest, 'headers' | 'native' | 'signal'>;

const REST_INTERFACE: Counterpart = {
  ...AGENT,
  check: 'check "a2aUrl" in configureServer, and the address of the HTTP+JSON interface in the agent card',
};
/** The fields of our own question in HTTP+JSON, which has no body. */
const QUESTION: HeaderFields = { accept: 'application/json', 'content-type': undefined };

/**
 * Forwards one call to the agent, in either binding.
 *
 *     browser ──policy──► credential ──► tenant ──► conversation ──► metadata ──► send ──► agent
 *     browser ◄── extended card ◄── pass or replace ◄── renew once on 401
 */
export class ChatForwarder {
  readonly #deps: ChatForwarderDependencies;

  constructor(dependencies: ChatForwarderDependencies) {
    this.#deps = dependencies;
  }

  /**
   * The agent's response once its head has arrived; the body streams. An extended card is rewritten.
   *
   * @throws AgentBffError `not_found` when the query is not safe to forward.
   * @throws RequestError when the policy refuses the method, or the call names anything that is not this visitor's.
   * @throws ServiceAuthError when there is no service credential, or the agent refuses it.
   * @throws SessionError when there is no session.
   * @throws UpstreamError when the agent has no such interface, or sends no response that can be passed on.
   */
  async forward(call: A2ACall, head: ChatHead, rules: ChatRules): Promise<HttpResponse> {
    const { call: platform, timeouts, telemetry, platformOrigin } = this.#deps;
    const { auth, policy, conversations, metadata } = rules;
    if (call.query !== '' && !isSafeQuery(call.query))
      throw new AgentBffError('not_found', { detail: 'There is no such route.' });
    // Policy.
    policy.check(call);
    const agent = requireEndpoint('a2aUrl', this.#deps.agent);
    // Credential.
    const caller = await platform.caller(auth, head, 'message');
    // Tenants, and the address of the interface.
    const card = needsCard(call, rules) ? await this.#card(call, head, caller) : undefined;
    if (call.tenants.length > 0) {
      const { tenant } = rules;
      checkTenants(call.tenants, tenant === undefined ? declaredTenants(card ?? {}, call.binding) : [tenant]);
    }
    const base = call.rest === undefined ? agent.path : restInterface(card ?? {}, agent, call.isOld);
    const counterpart = call.rest === undefined ? AGENT : REST_INTERFACE;
    const browser = conversations === undefined ? head.headers : guardedFields(head.headers);
    const { signal } = head;
    const { origin } = agent;
    // Whose conversation.
    const ask = async (taskId: string): Promise<PlatformReply> =>
      platform.send(
        { counterpart, timeouts, origin, browser, signal, ...taskQuestion(call, base, taskId) },
        await caller.about({ method: 'GetTask', taskId }),
      );
    const admitted = conversations?.admit(call, caller, ask) ?? {};
    const conversation = admitted instanceof Promise ? await admitted : admitted;
    // The site's metadata.
    const making = ownMetadata(call, caller, rules);
    const own = making instanceof Promise ? await making : making;
    const contextId = conversation.isUnnamed === true ? conversation.contextId : undefined;
    // A long message was read in this turn. To be changed it is parsed again, after other requests.
    const mayChange = contextId !== undefined || metadata !== undefined;
    if (mayChange && (call.body?.content.length ?? 0) > LONG_BYTES) await this.#deps.nextTurn();
    // Send.
    const reply = await platform.send(
      {
        counterpart,
        timeouts,
        origin,
        browser,
        signal,
        method: call.rest?.method ?? 'POST',
        path: base + (call.rest?.path.path ?? '') + call.query,
        contentType: call.body?.type,
        body: sentBytes(call, { contextId, rules: metadata, own }),
      },
      await caller.about(factsOf(call, conversation)),
    );
    // Pass or replace.
    const { response } = reply;
    const isSuccess = response.status < 300 && isForA2AClients(response);
    const { status, headers, body } = isSuccess ? response : await passedError(reply, call, platform.errors, telemetry);
    const passed = { status, headers: browserResponseHeaders(headers, reply.credential.fields?.response), body };
    return call.kind === 'card' && rules.rewrite !== undefined
      ? withExtendedCard(passed, call, { ...rules.rewrite, agentOrigin: origin, platformOrigin })
      : passed;
  }

  /** A look-up for all messages, so its fields know none. */
  async #card(call: A2ACall, head: ChatHead, caller: Caller): Promise<AgentCardJson> {
    const named = head.headers['a2a-version'];
    const version = call.rest === undefined ? (named ?? '') : call.isOld ? '' : (named ?? '1.0');
    return this.#deps.card(String(version), await caller.about());
  }
}

/** Tenants are declared in the card, and so is the address of the HTTP+JSON interface. */
function needsCard({ rest, tenants }: A2ACall, { tenant }: ChatRules): boolean {
  return rest !== undefined || (tenants.length > 0 && tenant === undefined);
}

function ownMetadata(call: A2ACall, { request, credential }: Caller, rules: ChatRules): Promise<string> | string {
  const { metadata, visitor = null } = rules;
  if (call.kind !== 'starts' || call.body === undefined || metadata?.own === undefined) return '';
  return metadata.own({ request: request.native.request, session: credential.user, visitor });
}

function factsOf(call: A2ACall, { contextId = call.contextId }: Conversation): MessageFacts {
  // An empty id names nothing.
  return { method: call.method, contextId: contextId || undefined, taskId: call.taskId || undefined };
}

/**
 * The browser's fields without those that could refer to another visitor's work: the last event of a stream, and the
 * key of a repeated request.
 */
function guardedFields(fields: HeaderFields): HeaderFields {
  if (fields['last-event-id'] === undefined && fields['idempotency-key'] === undefined) return fields;
  return { ...fields, 'last-event-id': undefined, 'idempotency-key': undefined };
}

type Question = Pick<PlatformMessage, 'method' | 'path' | 'own' | 'contentType' | 'body'>;

/** A request for a task, in the binding and the version of the call. */
function taskQuestion({ rest, isOld, query, tenants: [tenant] }: A2ACall, base: string, id: string): Question {
  if (rest !== undefined) {
    const prefix = isOld ? '/v1' : tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
    const path = `${base}${prefix}/tasks/${encodeURIComponent(id)}?historyLength=0${versionIn(query)}`;
    return { method: 'GET', path, own: QUESTION, body: null };
  }
  const params = { id, historyLength: 0, tenant };
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: isOld ? 'tasks/get' : 'GetTask', params });
  return {
    method: 'POST',
    path: base + query,
    own: { accept: 'application/json' },
    contentType: 'application/json',
    body: new TextEncoder().encode(text),
  };
}

/** The version that a query names, for a further query. */
function versionIn(query: string): string {
  const [, version] = /[?&](A2A-Version=[\w.]*)/i.exec(query) ?? [];
  return version === undefined ? '' : `&${version}`;
}
