import type { HeaderFields } from '../../ports/http.js';
import type { CallContext } from '../upstream/platform-call.js';
import type { PlatformReply } from '../upstream/platform-error.js';
import { RequestError } from '../shared/errors.js';
import { type AgentCardJson, records, textOf } from './agent-card.js';
import { type ChatMessage, normalizedName } from './chat-message.js';

/** A call that is about to be sent to the agent. */
export interface GuardedCall {
  readonly method: string;
  /** Absent if the call has no body. */
  readonly body: { readonly bytes: Uint8Array; readonly message: ChatMessage } | undefined;
  /** The raw query with its `?`, or an empty string. */
  readonly query: string;
  /** The binding: in HTTP+JSON the body is the `params`, and the path may name a task. */
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** The task in the path, decoded; absent if it has none. */
  readonly taskId?: string | undefined;
  /** The tenants in path, body and query. */
  readonly tenants: readonly string[];
  readonly caller: CallContext;
  /** Asks the agent for a task, over the same binding. */
  readonly ask: (taskId: string) => Promise<PlatformReply>;
}

/** The call as it may be sent, and the check of its response. */
export interface AdmittedCall {
  readonly bytes: Uint8Array | undefined;
  /** Returns the response if it may be passed on; absent if it always may. */
  readonly judge?: (reply: PlatformReply) => Promise<PlatformReply>;
}

/** Decides about the calls of one visitor. */
export interface ConversationCheck {
  /** @throws RequestError when the call names anything that is not this visitor's, or is not defined. */
  admit(call: GuardedCall): Promise<AdmittedCall>;
}

/** Settings of a chat route besides its credential and its methods. */
export interface ChatCallOptions {
  /** The one tenant that messages may name. Default: those of the agent's card. */
  readonly tenant?: string | undefined;
  /** Absent if conversations are open to anyone who knows their id. */
  readonly conversations?: ConversationCheck | undefined;
}

/** Fields of a request that could name what another visitor began: the end of a stream, a request that is repeated. */
const NAMING_FIELDS = { 'last-event-id': undefined, 'idempotency-key': undefined };

/** The browser's fields where conversations belong to visitors. */
export function guardedFields(fields: HeaderFields): HeaderFields {
  return { ...fields, ...NAMING_FIELDS };
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

/** The tenants in a query: parsers of protocol buffers read any member there, in any spelling. */
export function queryTenants(query: string): readonly string[] {
  if (!/[?]/.test(query)) return [];
  return [...new URLSearchParams(query)].flatMap(([name, value]) =>
    normalizedName(name) === 'tenant' && value !== '' ? [value] : [],
  );
}
