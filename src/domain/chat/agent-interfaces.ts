import { RequestError, UpstreamError } from '../shared/errors.js';
import { withoutTrailingSlashes } from '../shared/paths.js';
import type { Endpoint } from '../upstream/platform-call.js';
import { type AgentCardJson, isSameOrigin, records, textOf } from './agent-card.js';
import { addressFacts } from '../upstream/platform-error.js';

const HTTP_JSON = 'HTTP+JSON';

/**
 * The path of the agent's HTTP+JSON interface for a protocol version, without a trailing slash. Only an interface on the
 * origin of `a2aUrl` is called: a card must not redirect the credential.
 *
 * @throws UpstreamError `agent_binding_unsupported`.
 */
export function restInterface(card: AgentCardJson, agent: Endpoint, isOld: boolean): string {
  const offers = [
    ...listed(card['supportedInterfaces'], 'protocolBinding'),
    ...listed(card['additionalInterfaces'], 'transport'),
    ...listed([card], 'preferredTransport'),
  ].filter(({ url }) => isSameOrigin(url, agent.origin));
  const own = offers.find((offer) => offer.isOld === isOld) ?? offers[0];
  if (own === undefined) {
    const detail = 'The agent has no HTTP+JSON interface this site can forward to.';
    const hint = 'Use the JSON-RPC binding, or enable HTTP+JSON on the agent, on the host of "a2aUrl".';
    throw new UpstreamError('agent_binding_unsupported', addressFacts(detail, hint, ['a2aUrl']));
  }
  return withoutTrailingSlashes(new URL(own.url).pathname);
}

interface Offer {
  readonly url: string;
  readonly isOld: boolean;
}

function listed(entries: unknown, field: string): readonly Offer[] {
  return records(entries)
    .filter((entry) => textOf(entry[field]).toUpperCase() === HTTP_JSON)
    .map(({ url, protocolVersion }) => ({
      url: textOf(url),
      isOld: field !== 'protocolBinding' || textOf(protocolVersion).startsWith('0.'),
    }));
}

/**
 * Rejects tenants other than the declared ones (A2A v1.0 §8.3.2): a visitor must not choose whose data the site's
 * credential opens.
 *
 * @throws RequestError `body_invalid` with the code -32602.
 */
export function checkTenants(tenants: readonly string[], declared: readonly string[]): void {
  if (tenants.every((one) => declared.includes(one))) return;
  throw new RequestError('body_invalid', {
    detail: 'The request names a tenant that this site does not serve.',
    hint: 'Leave "tenant" out, or use the one of the interface in the agent card.',
    rpcCode: -32602,
  });
}

/** The tenants of the interfaces that have this binding. */
export function declaredTenants(card: AgentCardJson, binding: string): readonly string[] {
  return records(card['supportedInterfaces'])
    .filter((entry) => textOf(entry['protocolBinding']).toUpperCase() === binding)
    .map((entry) => textOf(entry['tenant']));
}
