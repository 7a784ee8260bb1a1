import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { type ErrorFacts, ServiceAuthError, UpstreamError } from '../errors.js';
import type { Counterpart } from './platform-answer.js';

/** A response, and the credential its request was sent with. */
export interface PlatformReply {
  readonly response: HttpResponse;
  readonly credential: Credential;
}

/** Whether a response refuses a credential of the site's own, which no visitor can change. */
export function refusesSite({ response: { status }, credential }: PlatformReply): boolean {
  return credential.kind !== 'session' && (status === 401 || status === 403);
}

/** The error that stands for a response of 400 or above, whose status it keeps, and the fields that are named; `log` is what the response said. */
export function platformError(
  reply: PlatformReply,
  counterpart: Counterpart,
  log: string,
  kept: readonly string[] = [],
): ServiceAuthError | UpstreamError {
  const { status, headers } = reply.response;
  if (refusesSite(reply)) return tokenRejected(reply.credential, status, log);
  return new UpstreamError('upstream_error', {
    ...(status >= 500
      ? { detail: `The ${counterpart.name} reported an error of its own.` }
      : refusal(status, counterpart)),
    retryable: status === 429 || status === 503,
    upstreamStatus: status,
    upstreamHeaders: named(headers, [...kept, ...(reply.credential.fields?.response ?? [])]),
    ...retryAfter(headers),
    log,
  });
}

/** The error for a credential of the site that the platform does not take: not even a renewed one (401), or not for this (403). */
export function tokenRejected({ block }: Credential, status: number, log: string): ServiceAuthError {
  const isKey = block === 'serviceApiKey';
  if (status === 403) {
    return new ServiceAuthError('service_token_rejected', {
      detail: 'The platform does not allow the service credential to do this.',
      hint: isKey
        ? 'Check what the platform allows for "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".'
        : `Check the "${block}" configuration block: the platform must give this client or key the role that is needed.`,
      block,
      upstreamStatus: status,
      log,
    });
  }
  return new ServiceAuthError('service_token_rejected', {
    detail: 'The platform refused the service credential.',
    hint: isKey
      ? 'Check "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".'
      : `Check the "${block}" configuration block: the platform must know this client or key, its audience and its role.`,
    block,
    fields:
      block === 'serviceAccount' ? ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'] : [],
    log,
  });
}

/** What is true of a refusal, whatever the platform says about it. */
function refusal(
  status: number,
  { name, field }: Counterpart,
): Pick<ErrorFacts, 'detail' | 'hint' | 'block' | 'fields'> {
  // Said by whatever is at the address instead of the API, more often than by the API.
  const address = {
    hint: `If nothing is found there, check "${field}" in configureServer.`,
    block: 'configureServer',
    fields: [field],
  };
  switch (status) {
    case 401:
      return { detail: `The ${name} did not accept the sign-in.`, hint: 'Sign in again.' };
    case 403:
      return { detail: `The ${name} does not allow this to the signed-in user.` };
    case 404:
    case 410:
      return { detail: `The ${name} did not find what was asked for.`, ...address };
    case 405:
      return { detail: `The ${name} does not take this method at this address.`, ...address };
    case 409:
      return { detail: `The request conflicts with the state of the ${name}.` };
    case 413:
      return { detail: `The request is too large for the ${name}.` };
    case 429:
      return { detail: `The ${name} takes no more requests for now.`, hint: 'Send the request again in a moment.' };
    default:
      return { detail: `The ${name} refused the request.` };
  }
}

function named(headers: HeaderFields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.filter((name) => headers[name] !== undefined).map((name) => [name, String(headers[name])]),
  );
}

/** When to come back: in seconds, or at a time that only the platform's own clock can be compared with (RFC 9110 §10.2.3). */
function retryAfter(headers: HeaderFields): { retryAfterMs?: number } {
  const field = headers['retry-after'];
  const seconds = Number(field);
  const ms = Number.isFinite(seconds)
    ? seconds * 1_000
    : Date.parse(String(field)) - Date.parse(String(headers['date']));
  return ms > 0 ? { retryAfterMs: ms } : {};
}
