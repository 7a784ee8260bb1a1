import type { HttpResponse } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { type AgentBffError, UpstreamError } from '../errors.js';
import { platformError } from '../upstream/platform-error.js';
import { type Counterpart, isPage, sentence } from '../upstream/wrong-address.js';

/** A response where the card should be, and what it says. */
export interface CardlessResponse {
  readonly response: HttpResponse;
  readonly said: Promise<string>;
}

/** Where the card is looked for; `agentCardUrl` may be set already. */
const CARD: Counterpart = {
  name: 'agent',
  fields: ['a2aUrl', 'agentCardUrl'],
  check: 'check "a2aUrl" in configureServer, or set "agentCardUrl" to the address of the card',
  expected: 'an agent card',
};
const CONFIGURED_CARD: Counterpart = { ...CARD, check: 'check "a2aUrl" and "agentCardUrl" in configureServer' };

/** Whether a response without a card says why there is none: it is a page, a redirect, a refusal of the caller, or of an agent out of order. */
export function saysMore({ status, headers }: HttpResponse): boolean {
  if (status < 300) return isPage(headers);
  return status < 400 ? status !== 304 : status === 403 || status === 429 || status >= 500;
}

/** The error when no agent card was found: what the most specific response says, where there is one. `log` is what all of them said. */
export async function missingCard(
  best: CardlessResponse | undefined,
  credential: Credential,
  log: string,
  isConfigured: boolean,
): Promise<AgentBffError> {
  const place = isConfigured ? CONFIGURED_CARD : CARD;
  if (best !== undefined) {
    return platformError({ response: best.response, credential }, place, log, [], await best.said);
  }
  return new UpstreamError('upstream_invalid_response', {
    detail: 'No agent card found.',
    hint: sentence(place.check),
    block: 'configureServer',
    fields: place.fields,
    log,
  });
}
