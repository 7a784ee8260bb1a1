import type { HttpResponse } from '../../ports/http.js';
import { UpstreamError } from '../errors.js';
import { parsedJson } from '../shared/json.js';
import { bodyText } from '../upstream/body-bytes.js';
import { type AgentCardRewrite, isAgentCard, rewrittenCard } from './agent-card.js';

const METHODS: ReadonlySet<string> = new Set(['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']);
const MAX_REPLY = 1_048_576;

/** Whether the response to a method holds the extended card. */
export function isExtendedCardMethod(method: string): boolean {
  return METHODS.has(method);
}

/**
 * The agent's answer to a request for its extended card, with the card in it rewritten as the public one is (decision 33).
 * Errors of the agent pass as they are.
 *
 * @throws UpstreamError when the answer is not one JSON-RPC answer, or its card cannot be rewritten.
 */
export async function rewriteExtendedCard(response: HttpResponse, rewrite: AgentCardRewrite): Promise<HttpResponse> {
  if (response.status !== 200) return response;
  const { 'content-length': _length, etag: _etag, ...headers } = response.headers;
  const text = headers['content-encoding'] === undefined ? await bodyText(response.body, MAX_REPLY) : undefined;
  const reply = parsedJson(text);
  if (typeof reply !== 'object' || reply === null || !('jsonrpc' in reply)) throw unreadable();
  if (!('result' in reply)) return { ...response, headers, body: text ?? '' };
  if (!isAgentCard(reply.result)) throw unreadable();
  const result = rewrittenCard(reply.result, rewrite);
  return { ...response, headers, body: JSON.stringify({ ...reply, result }) };
}

function unreadable(): UpstreamError {
  return new UpstreamError('upstream_invalid_response', {
    detail: 'The agent sent something else than its extended card.',
  });
}
