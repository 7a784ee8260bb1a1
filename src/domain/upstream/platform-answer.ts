import type { HttpResponse, UpstreamOutcome } from '../../ports/http.js';
import { UpstreamError } from '../errors.js';
import { discardBody } from './body-text.js';

/** Who was called, in the words of an error: who it is, and the field that says where it is. */
export interface Counterpart {
  readonly name: string;
  readonly field: string;
}

export const AGENT: Counterpart = { name: 'agent', field: 'a2aUrl' };
export const PLATFORM: Counterpart = { name: 'platform', field: 'serviceApiUrl' };

/**
 * The response of an outcome.
 *
 * `isRepeatable`: whether the same request may be sent again though nobody knows what became of the first (RFC 9110 §9.2.2).
 * An agent that was late may have done its work, and a second message would have it done twice.
 *
 * @throws UpstreamError when there is none.
 */
export function answered(outcome: UpstreamOutcome, { name, field }: Counterpart, isRepeatable: boolean): HttpResponse {
  if (outcome.kind === 'response') return outcome.response;
  const log = outcome.detail;
  const retryable = isRepeatable || outcome.sent === 'nothing';
  switch (outcome.reason) {
    case 'timeout':
      throw new UpstreamError('upstream_timeout', {
        detail: `The ${name} did not answer in time.`,
        retryable,
        log,
      });
    case 'invalid':
      throw new UpstreamError('upstream_invalid_response', {
        detail: `The ${name} sent an answer that is not valid HTTP.`,
        log,
      });
    case 'unreachable':
    case 'reset':
      throw new UpstreamError('upstream_unreachable', {
        detail: `The ${name} cannot be reached.`,
        hint: `If this lasts, check that the ${name} runs, and "${field}" in configureServer.`,
        block: 'configureServer',
        fields: [field],
        retryable: outcome.reason === 'unreachable' || retryable,
        log,
      });
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
export async function refuseRedirect({ status, body }: HttpResponse, { name, field }: Counterpart): Promise<void> {
  if (status < 300 || status >= 400) return;
  await discardBody(body);
  throw new UpstreamError('upstream_redirect', {
    detail: `The ${name} answered with a redirect, which is never followed.`,
    hint: `Set "${field}" in configureServer to the final address of the ${name}.`,
    block: 'configureServer',
    fields: [field],
    log: `status ${String(status)} from the ${name}`,
  });
}
