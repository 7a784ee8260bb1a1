import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { Credential } from '../credentials/credential.js';
import { type ErrorFacts, ServiceAuthError, UpstreamError } from '../errors.js';
import { type AddressFacts, type Counterpart, misplaced, quoted, redirected, unexpected } from './wrong-address.js';
import type { BodyStart } from './body-bytes.js';
import type { ErrorExcerpts } from './error-excerpts.js';
import { isJson } from '../shared/media-type.js';

/** A response, and the credential its request was sent with. */
export interface PlatformReply {
  readonly response: HttpResponse;
  readonly credential: Credential;
}

/** What an error has to know of the credential that was sent. */
type Refused = Pick<Credential, 'kind' | 'block'> & Partial<Pick<Credential, 'fields'>>;

/** Whether a response refuses a credential of the site's own, which no visitor can change. */
export function refusesSite({
  response: { status },
  credential,
}: {
  readonly response: Pick<HttpResponse, 'status'>;
  readonly credential: Refused;
}): boolean {
  return credential.kind !== 'session' && (status === 401 || status === 403);
}

/**
 * The error that stands for a response that is not passed on: of 400 and above, whose status it keeps, and the fields that are named;
 * or a success that is not what was expected. `log` is what the log gets, `said` what the response said, where that is not the same.
 */
export function platformError(
  reply: { readonly response: Pick<HttpResponse, 'status' | 'headers'>; readonly credential: Refused },
  counterpart: Counterpart,
  log: string,
  kept: readonly string[] = [],
  said: string = log,
): ServiceAuthError | UpstreamError {
  const { status, headers } = reply.response;
  if (status < 300) {
    return new UpstreamError('upstream_invalid_response', { ...unexpected(headers, counterpart, said), log });
  }
  if (status < 400) return new UpstreamError('upstream_redirect', { ...redirected(headers, counterpart), log });
  const wrong = misplaced(reply.response, counterpart, said);
  if (refusesSite(reply)) return tokenRejected(reply.credential, status, counterpart, log, wrong);
  return new UpstreamError('upstream_error', {
    ...(wrong ?? refusal(status, counterpart)),
    retryable: status === 429 || status === 503,
    upstreamStatus: status,
    upstreamHeaders: pick(headers, [...kept, ...(reply.credential.fields?.response ?? [])]),
    ...retryAfter(headers),
    log,
  });
}

/** The error for a credential of the site that the platform does not take: not even a renewed one (401), or not for this (403). */
function tokenRejected(
  { block }: Refused,
  status: number,
  { fields }: Counterpart,
  log: string,
  wrong: AddressFacts | undefined,
): ServiceAuthError {
  const isKey = block === 'serviceApiKey';
  if (status === 403) {
    const elsewhere = `Some gateways say this of unknown paths too: check ${quoted(fields)} then.`;
    return new ServiceAuthError('service_token_rejected', {
      detail: 'The platform does not allow the service credential to do this.',
      hint: isKey
        ? `Check what the platform allows for "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy". ${elsewhere}`
        : `Check the "${block}" configuration block: the platform must give this client or key the role that is needed. ${elsewhere}`,
      block,
      upstreamStatus: status,
      log,
    });
  }
  const hint = isKey
    ? 'Check "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".'
    : `Check the "${block}" configuration block: the platform must know this client or key, its audience and its role.`;
  return new ServiceAuthError('service_token_rejected', {
    detail: wrong?.detail ?? 'The platform refused the service credential.',
    hint: wrong === undefined ? hint : `${wrong.hint} ${hint}`,
    block,
    fields:
      block === 'serviceAccount' ? ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'] : [],
    log,
  });
}

/** What is true of a refusal that says nothing of the address, whatever the platform says about it. */
function refusal(
  status: number,
  { name, fields }: Counterpart,
): Pick<ErrorFacts, 'detail' | 'hint' | 'block' | 'fields'> {
  if (status >= 500) return { detail: `The ${name} reported an error of its own.` };
  switch (status) {
    case 401:
      return { detail: `The ${name} did not accept the sign-in.`, hint: 'Sign in again.' };
    case 403:
      return {
        detail: `The ${name} does not allow this to the signed-in user.`,
        hint: `The account needs a role that allows it. If every account is refused, check ${quoted(fields)} in configureServer.`,
        block: 'configureServer',
        fields,
      };
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

function pick(headers: HeaderFields, names: readonly string[]): Record<string, string> {
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

/** Decides what of the platform's own errors a browser may read (decision 81). */
export class PlatformErrors {
  readonly #excerpts: ErrorExcerpts;
  readonly #counterpart: Counterpart;

  constructor(excerpts: ErrorExcerpts, counterpart: Counterpart) {
    this.#excerpts = excerpts;
    this.#counterpart = counterpart;
  }

  /**
   * Lets everything below 400 pass, and of 4xx what is JSON, or nothing at all. `kept` names fields a replaced response keeps.
   *
   * @throws UpstreamError `upstream_error` and ServiceAuthError `service_token_rejected` in place of any other response.
   */
  async toBrowserResponse(reply: PlatformReply, kept: readonly string[] = []): Promise<HttpResponse> {
    const { response } = reply;
    if (response.status < 400) return response;
    const mayPass = response.status < 500 && !refusesSite(reply);
    if (mayPass && isJson(response.headers)) return response;
    const start = await this.#excerpts.read(response.body);
    const isBare = start.isWhole && start.bytes.length === 0 && response.headers['content-type'] === undefined;
    if (mayPass && isBare) return { ...response, body: null };
    const said = this.#excerpts.quote(response, start, reply.credential, this.#counterpart);
    throw platformError(reply, this.#counterpart, said, kept);
  }

  /** A body that may pass once it has been looked into, as far as it is neither too long nor too slow. */
  start({ response }: PlatformReply, limitBytes: number): Promise<BodyStart> {
    return this.#excerpts.readWhole(response.body, limitBytes);
  }

  /** The error in place of a response, with what it says for the log alone; its body is discarded, unless its start was read before. */
  async replacing(reply: PlatformReply, start?: BodyStart): Promise<ServiceAuthError | UpstreamError> {
    return platformError(reply, this.#counterpart, await this.said(reply, start));
  }

  /** What a response says, for the log alone. */
  async said({ response, credential }: PlatformReply, start?: BodyStart): Promise<string> {
    const read = start ?? (await this.#excerpts.read(response.body));
    return this.#excerpts.quote(response, read, credential, this.#counterpart);
  }
}
