import type { HttpResponse, UpstreamOutcome } from '../../ports/http.js';
import { UpstreamError } from '../errors.js';
import { discard } from '../shared/body.js';
import { locationOf, quoted, redirected } from './wrong-address.js';

/** Who was called, in the words of an error. */
export interface Counterpart {
  readonly name: string;
  /** The fields that say where it is. */
  readonly fields: readonly string[];
  /** What to do where something else is found there: a sentence without its capital and its full stop. */
  readonly check: string;
  /** What a successful response of it is. */
  readonly expected: string;
  /** Whether requests name things that may be missing there though the address is right. Default: false. */
  readonly holdsMany?: boolean;
}

export const AGENT: Counterpart = {
  name: 'agent',
  fields: ['a2aUrl'],
  check: 'check "a2aUrl" in configureServer: it has to be the JSON-RPC endpoint of the agent',
  expected: 'JSON or a stream of events',
};
export const PLATFORM: Counterpart = {
  name: 'platform',
  fields: ['serviceApiUrl'],
  check: 'check "serviceApiUrl" in configureServer',
  expected: 'what was asked for',
  holdsMany: true,
};

/**
 * The response of an outcome.
 *
 * `isRepeatable`: whether the same request may be sent again though nobody knows what became of the first (RFC 9110 §9.2.2).
 * An agent that was late may have done its work, and a second message would have it done twice.
 *
 * @throws UpstreamError when there is none.
 */
export function responseOrThrow(
  outcome: UpstreamOutcome,
  { name, fields }: Counterpart,
  isRepeatable: boolean,
): HttpResponse {
  if (outcome.kind === 'response') return outcome.response;
  const log = outcome.detail;
  const retryable = isRepeatable || outcome.sent === 'nothing';
  const place = { block: 'configureServer', fields };
  const where = `${quoted(fields)} in configureServer`;
  switch (outcome.reason) {
    case 'timeout':
      throw new UpstreamError('upstream_timeout', {
        detail: `The ${name} did not answer in time.`,
        hint: `If it needs longer, raise "headersMs" in the "timeouts" configuration block. If it never answers, check ${where}.`,
        ...place,
        retryable,
        log,
      });
    case 'invalid':
      throw new UpstreamError('upstream_invalid_response', {
        detail: `The ${name} sent an answer that is not valid HTTP.`,
        hint: `Check scheme and port of ${where}.`,
        ...place,
        log,
      });
    case 'unreachable':
    case 'reset': {
      const cause = outcome.reason === 'reset' ? ': a server that expects https ends a request without it' : '';
      throw new UpstreamError('upstream_unreachable', {
        detail: `The ${name} cannot be reached.`,
        hint: `If this lasts, check that the ${name} runs, and ${where}${cause}.`,
        ...place,
        retryable: outcome.reason === 'unreachable' || retryable,
        log,
      });
    }
    case 'aborted':
      // Nobody reads it, and there is nothing to mend.
      throw new UpstreamError('upstream_unreachable', {
        detail: `The ${name} cannot be reached.`,
        retryable,
        log,
      });
  }
}

/**
 * Lets everything pass but redirects, which are neither followed nor passed on.
 *
 * @throws UpstreamError `upstream_redirect`.
 */
export async function refuseRedirect({ status, headers, body }: HttpResponse, counterpart: Counterpart): Promise<void> {
  if (status < 300 || status >= 400) return;
  discard(body);
  const to = locationOf(headers);
  throw new UpstreamError('upstream_redirect', {
    ...redirected(headers, counterpart),
    log: `status ${String(status)} from the ${counterpart.name}${to === '' ? '' : `, to ${to}`}`,
  });
}
