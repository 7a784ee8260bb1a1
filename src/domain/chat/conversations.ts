import type { HeaderFields } from '../../ports/http.js';
import type { SessionUser } from '../../ports/session-token-source.js';
import type { MessageFacts } from '../credentials/route-auth.js';
import type { CallContext, CallTimeouts, Endpoint, PlatformCall } from '../upstream/platform-call.js';
import type { PlatformReply } from '../upstream/platform-error.js';
import { RequestError } from '../shared/errors.js';
import { type AgentCardJson, records, textOf } from './agent-card.js';
import { type MessageReading, normalizedName } from './chat-message.js';
import { editedMessage, type MessageBody, type MetadataRules, namesIn } from './message-edits.js';
import { canonical, startsWork } from './method-policy.js';

/** Everything that calls to the agent need, in either binding. */
export interface AgentCalls {
  readonly call: PlatformCall;
  readonly timeouts: CallTimeouts;
  /** The agent; absent until `a2aUrl` is configured. */
  readonly agent: Endpoint | undefined;
  /** Origin of the platform, removed from extended cards. */
  readonly platformOrigin?: string | undefined;
  /** Returns the agent's own card, from the cache of the config route. */
  readonly card: (version: string, caller: CallContext) => Promise<AgentCardJson>;
}

/** A call that is about to be sent to the agent. */
export interface GuardedCall {
  readonly method: string;
  /** Absent if the call has no body. */
  readonly body: MessageBody | undefined;
  /** The raw query with its `?`, or an empty string. */
  readonly query: string;
  /** The binding: in HTTP+JSON the body is the `params`, and the path may name a task. */
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** The task in the path, decoded; absent if it has none. */
  readonly taskId?: string | undefined;
  /** The tenants in path, body and query. */
  readonly tenants: readonly string[];
  /** The caller without the fields that the site makes for each message. */
  readonly caller: CallContext;
  /** Asks the agent for a task, over the same binding. */
  readonly ask: (taskId: string) => Promise<PlatformReply>;
}

/** The call as it may be sent. */
export interface AdmittedCall {
  /** The context of a message, or of its task if that is known. */
  readonly contextId?: string;
  /** True if the message does not name its context yet. */
  readonly isUnnamed?: boolean;
}

/** Decides about the calls of one visitor. */
export interface ConversationCheck {
  /** @throws RequestError when the call names anything that is not this visitor's, or is not defined. */
  admit(call: GuardedCall): AdmittedCall | Promise<AdmittedCall>;
}

/** The facts passed to the site's functions for metadata. */
export interface MetadataAbout {
  /** The framework's own request. */
  readonly request: unknown;
  readonly session: SessionUser | null;
  readonly visitor: string | null;
}

/** The metadata that a site adds to messages. */
export interface SiteMetadata extends MetadataRules {
  /** The site's members for one message, as JSON without braces; absent if it has none. */
  readonly own?: (about: MetadataAbout) => Promise<string>;
}

/** Settings of a chat route besides its credential and its methods. */
export interface ChatCallOptions {
  /** The parts of a message that are read. Default: those its policy depends on. */
  readonly reading?: MessageReading | undefined;
  /** The one tenant that messages may name. Default: those of the agent's card. */
  readonly tenant?: string | undefined;
  /** Absent if metadata crosses as it is. */
  readonly metadata?: SiteMetadata | undefined;
  /** Absent if conversations are open to anyone who knows their id. */
  readonly conversations?: ConversationCheck | undefined;
  /** The site's name of the visitor, if it knows one. */
  readonly visitor?: string | null | undefined;
}

type Send = (body: Uint8Array | null, caller: CallContext) => Promise<PlatformReply>;

/**
 * Sends one call of a visitor with what the site adds to it.
 *
 * @throws RequestError when the call names anything that is not this visitor's.
 */
export function exchanged(
  platform: PlatformCall,
  call: GuardedCall,
  options: ChatCallOptions,
  send: Send,
): Promise<PlatformReply> {
  const { conversations, metadata } = options;
  const { caller } = call;
  const admitted = conversations?.admit(call) ?? {};
  // Most calls wait for the agent alone. An async function here would cost as much as the checks.
  const isPlain = metadata?.own === undefined && caller.auth.fields?.make === undefined;
  return isPlain && !(admitted instanceof Promise)
    ? send(edited(call, admitted, metadata, ''), caller)
    : exchangedInSteps(platform, call, admitted, options, send);
}

async function exchangedInSteps(
  platform: PlatformCall,
  call: GuardedCall,
  admitting: AdmittedCall | Promise<AdmittedCall>,
  { metadata, visitor = null }: ChatCallOptions,
  send: Send,
): Promise<PlatformReply> {
  const { method, body, caller } = call;
  const admitted = await admitting;
  let own = '';
  if (body !== undefined && metadata?.own !== undefined && startsWork(method)) {
    const { request, credential } = caller;
    own = await metadata.own({ request: request.native.request, session: credential.user, visitor });
  }
  const bytes = edited(call, admitted, metadata, own);
  const hasFields = caller.auth.fields?.make !== undefined;
  return send(bytes, hasFields ? await platform.withFields(caller, factsOf(call, admitted.contextId)) : caller);
}

/** The bytes to send. */
function edited(
  { method, body }: GuardedCall,
  { contextId, isUnnamed }: AdmittedCall,
  metadata: SiteMetadata | undefined,
  own: string,
): Uint8Array | null {
  if (body === undefined) return null;
  const isStreamed = canonical(method) === 'SendStreamingMessage';
  return editedMessage(body, isUnnamed === true ? contextId : undefined, metadata, own, isStreamed);
}

function factsOf(call: GuardedCall, admitted: string | undefined): MessageFacts {
  const named = namesIn(call);
  const { contextId = named.contextId, taskId = named.taskId } = { contextId: admitted, taskId: call.taskId };
  return { method: canonical(call.method), contextId, taskId };
}

/**
 * The browser's fields without those that could refer to another visitor's work: the last event of a stream, and the
 * key of a repeated request.
 */
export function guardedFields(fields: HeaderFields): HeaderFields {
  if (fields['last-event-id'] === undefined && fields['idempotency-key'] === undefined) return fields;
  return { ...fields, 'last-event-id': undefined, 'idempotency-key': undefined };
}

/**
 * Rejects tenants other than the declared ones (A2A v1.0 §8.3.2): a visitor must not choose whose data the site's
 * credential opens.
 *
 * @throws RequestError `body_invalid` with the code -32602.
 */
export async function checkTenants(
  tenants: readonly string[],
  binding: string,
  { tenant }: ChatCallOptions,
  card: () => Promise<AgentCardJson>,
): Promise<void> {
  if (tenants.length === 0) return;
  const declared = tenant === undefined ? declaredTenants(await card(), binding) : [tenant];
  if (tenants.every((one) => declared.includes(one))) return;
  throw new RequestError('body_invalid', {
    detail: 'The request names a tenant that this site does not serve.',
    hint: 'Leave "tenant" out, or use the one of the interface in the agent card.',
    rpcCode: -32602,
  });
}

function declaredTenants(card: AgentCardJson, binding: string): readonly string[] {
  return records(card['supportedInterfaces'])
    .filter((entry) => textOf(entry['protocolBinding']).toUpperCase() === binding)
    .map((entry) => textOf(entry['tenant']));
}

/** The tenants in a query, empty ones included: parsers of protocol buffers read any member there, in any spelling. */
export function queryTenants(query: string): readonly string[] {
  if (!/[?]/.test(query)) return [];
  return [...new URLSearchParams(query)].flatMap(([name, value]) => (normalizedName(name) === 'tenant' ? [value] : []));
}
