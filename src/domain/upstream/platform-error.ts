import type { HeaderFields, HttpResponse, UpstreamOutcome, HttpBody } from '../../ports/http.js';
import { challengedClaims } from '../credentials/claims-request.js';
import { type Credential, NO_CREDENTIAL } from '../credentials/credential.js';
import { type ErrorCode, type ErrorFacts, ServiceAuthError, UpstreamError } from '../shared/errors.js';
import { discard, isJson, mediaType } from '../shared/body.js';
import { quoted } from '../shared/setting.js';
import { type BodyStart, readStart } from './body-bytes.js';

// The one place for messages about a wrong address, where nothing or something else is found. Visitors read them.
// `text` is the start of the body, if known.

/** The called party, for error messages. */
export interface Counterpart {
  readonly name: string;
  /** The fields with its address. */
  readonly fields: readonly string[];
  /** The advice if something else is found there: a sentence without its capital and its full stop. */
  readonly check: string;
  /** The content of its successful responses. */
  readonly expected: string;
  /** True for the platform's API: its requests name things that may be missing although the address is right. Default: false. */
  readonly isPlatform?: boolean;
}

/** The public part of an error about such an address. */
type AddressFacts = Required<Pick<ErrorFacts, 'detail' | 'hint' | 'block' | 'fields'>>;

/** Matches the text or the address of a sign-in page. */
const SIGN_IN = /\b(?:sign|log)[ _-]?(?:in|on)\b|\bsso\b|\bsaml|\/oauth2?\/|\/authorize\b|type=["']?password/i;
/** Matches the error text of nginx, Go and Apache for a client that connects without TLS. */
const NEEDS_TLS = /HTTP request .{0,40}HTTPS|plain HTTP .{0,40}SSL/i;

/** The error for a redirect. */
function redirected(headers: HeaderFields, counterpart: Counterpart): AddressFacts {
  const { name, fields } = counterpart;
  if (SIGN_IN.test(locationOf(headers))) {
    return signIn(`The ${name} redirects to a sign-in page, and redirects are never followed.`, counterpart);
  }
  const final = `the final address of the ${name}; check its scheme and its trailing slash`;
  return addressFacts(
    `The ${name} responded with a redirect, and redirects are never followed.`,
    `Set ${quoted(fields, ' and ')} in configureServer to ${final}.`,
    fields,
  );
}

/** The error for a success with unexpected content. */
function unexpected(headers: HeaderFields, counterpart: Counterpart, text: string): AddressFacts {
  const { name, fields, check, expected } = counterpart;
  if (!isPage(headers)) {
    return addressFacts(`The response of the ${name} is not ${expected}.`, sentence(check), fields);
  }
  return SIGN_IN.test(text)
    ? signIn(`The address of the ${name} leads to a sign-in page.`, counterpart)
    : addressFacts(`The address of the ${name} leads to a web page.`, sentence(check), fields);
}

/** The error for a failed response; `undefined` if the address is not the cause. */
function misplaced(
  { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
  counterpart: Counterpart,
  text: string,
): AddressFacts | undefined {
  const { name, fields, check, isPlatform = false } = counterpart;
  const hint = isPlatform ? `If no request succeeds, ${check}.` : sentence(check);
  switch (status) {
    case 400:
      if (!NEEDS_TLS.test(text)) return undefined;
      return addressFacts(
        `The address of the ${name} requires https.`,
        `Use https in ${quoted(fields, ' and ')}.`,
        fields,
      );
    case 401:
      // A challenge for tokens comes from an API that reads them, even if it sends a page (RFC 6750 §3).
      if (!isPage(headers) || /\bbearer\b/i.test(String(headers['www-authenticate']))) return undefined;
      return signIn(`The address of the ${name} leads to a sign-in page.`, counterpart);
    case 403: {
      if (!isPage(headers)) return undefined;
      const own = `If the ${name} itself sends it, grant the credential its role, or ${check}.`;
      const detail = `A page denies access to the ${name}, as that of a firewall or proxy in front of it.`;
      return addressFacts(detail, `Have it admit this server. ${own}`, fields);
    }
    case 404:
    case 410:
      if (isPlatform) return addressFacts(`The ${name} does not have the requested resource.`, hint, fields);
      return addressFacts(`The ${name} was not found at its address.`, hint, fields);
    case 405:
      return addressFacts(`The ${name} does not accept this method at this address.`, hint, fields);
    default:
      return undefined;
  }
}

/** The target of a redirect, for operators, without its query, which may hold secrets. */
function locationOf(headers: HeaderFields): string {
  return String(headers['location'] ?? '')
    .split(/[?#]/, 1)
    .join('');
}

function signIn(detail: string, { fields, check }: Counterpart): AddressFacts {
  const way = 'If the address is right, exempt requests with the credential of this site from the sign-in.';
  return addressFacts(detail, `${sentence(check)} ${way}`, fields);
}

/** The facts of an error about fields outside a block. */
export function addressFacts(detail: string, hint: string, fields: readonly string[]): AddressFacts {
  return { detail, hint, block: 'configureServer', fields };
}

/** True if the content is a web page. */
export function isPage(headers: HeaderFields): boolean {
  return ['text/html', 'application/xhtml+xml'].includes(mediaType(headers));
}

/** Turns advice into a sentence. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** A response, the party that sent it, and the credential it was sent with. */
export interface PlatformReply {
  readonly response: HttpResponse;
  readonly counterpart: Counterpart;
  readonly credential: Credential;
}

type QuotedReply = Omit<PlatformReply, 'counterpart'> & { readonly counterpart?: Counterpart };

/** The facts of a credential that an error names. */
type Refused = Pick<Credential, 'kind' | 'block'> & Partial<Pick<Credential, 'fields'>>;

/** The part of a reply that an error is made from. */
interface RefusedReply {
  readonly response: Pick<HttpResponse, 'status' | 'headers'>;
  readonly credential: Refused;
}

/** True if a response rejects a credential of the site's own, which no visitor can change. */
export function refusesSite({ response: { status }, credential }: RefusedReply): boolean {
  return credential.kind !== 'session' && (status === 401 || status === 403);
}

/**
 * The error that replaces a response: one of 400 and above, keeping its status and the named fields, or a success with
 * unexpected content. `log` is for the log; `said` is the text of the response, if different.
 */
export function platformError(
  reply: RefusedReply,
  counterpart: Counterpart,
  log: string,
  names: readonly string[] = [],
  said: string = log,
): ServiceAuthError | UpstreamError {
  const { status, headers } = reply.response;
  if (status < 300) {
    return new UpstreamError('upstream_invalid_response', { ...unexpected(headers, counterpart, said), log });
  }
  if (status < 400) return new UpstreamError('upstream_redirect', { ...redirected(headers, counterpart), log });
  const wrong = misplaced(reply.response, counterpart, said);
  const isDenied = status === 403 && wrong !== undefined;
  if (refusesSite(reply) && !isDenied) return tokenRejected(reply.credential, status, counterpart, log, wrong);
  return new UpstreamError('upstream_error', {
    ...(wrong ?? refusal(status, counterpart)),
    retryable: status === 429 || status === 503,
    upstreamStatus: status,
    upstreamHeaders: pick(headers, [...names, ...(reply.credential.fields?.response ?? [])]),
    ...retryAfter(headers),
    log,
  });
}

/** The error if the platform rejects a credential of the site, even a renewed one (401), or does not allow the call (403). */
function tokenRejected(
  { block }: Refused,
  status: number,
  counterpart: Counterpart,
  log: string,
  wrong: AddressFacts | undefined,
): ServiceAuthError {
  const refused = refusedCredential(block, status, counterpart);
  return new ServiceAuthError('service_token_rejected', {
    ...refused,
    detail: wrong?.detail ?? refused.detail,
    hint: wrong === undefined ? refused.hint : `${wrong.hint} ${refused.hint}`,
    ...(status === 401 ? {} : { upstreamStatus: status }),
    log,
  });
}

function refusedCredential(block: string, status: number, { name, fields }: Counterpart): AddressFacts {
  if (block === NO_CREDENTIAL) {
    const way = 'to a strategy it accepts instead of "none", such as "static_token" with "serviceToken"';
    const hint = `Set "serviceAuthStrategy" in configureServer ${way}.`;
    return addressFacts(`The ${name} requires a credential, and none is sent.`, hint, [NO_CREDENTIAL, 'serviceToken']);
  }
  const isField = block === 'serviceApiKey' || block === 'serviceToken';
  if (status === 403) {
    const elsewhere = `Some gateways respond like this to unknown paths too: then check ${quoted(fields, ' and ')}.`;
    const detail = 'The platform does not allow the service credential to do this.';
    const hint = isField
      ? `Check what the platform allows for "${block}" in configureServer, and the strategy in "serviceAuthStrategy". ${elsewhere}`
      : `Check the "${block}" configuration block: the platform must grant this client or key the required role. ${elsewhere}`;
    return { detail, hint, block, fields: [] };
  }
  const hint = isField
    ? `Check "${block}" in configureServer, and the strategy in "serviceAuthStrategy".`
    : `Check the "${block}" configuration block: the platform must know this client or key, its audience and its role.`;
  const suspects = ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'];
  const detail = 'The platform refused the service credential.';
  return { detail, hint, block, fields: block === 'serviceAccount' ? suspects : [] };
}

/** The facts of a refusal that is not about the address, whatever its body contains. */
function refusal(
  status: number,
  { name, fields }: Counterpart,
): Pick<ErrorFacts, 'detail' | 'hint' | 'block' | 'fields'> {
  if (status >= 500) return { detail: `The ${name} reported an internal error.` };
  switch (status) {
    case 401:
      return { detail: `The ${name} rejected the user's token.`, hint: 'Sign in again.' };
    case 403:
      return addressFacts(
        `The ${name} does not allow the signed-in user to do this.`,
        `The account needs a role that allows it. If every account is refused, check ${quoted(fields, ' and ')} in configureServer.`,
        fields,
      );
    case 409:
      return { detail: `The request conflicts with the state of the ${name}.` };
    case 413:
      return { detail: `The request is too large for the ${name}.` };
    case 429:
      return { detail: `The ${name} is receiving too many requests.`, hint: 'Send the request again in a moment.' };
    default:
      return { detail: `The ${name} refused the request.` };
  }
}

function pick(headers: HeaderFields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.filter((name) => headers[name] !== undefined).map((name) => [name, String(headers[name])]),
  );
}

/** The time to retry: in seconds, or as a date that can only be compared with the platform's own clock (RFC 9110 §10.2.3). */
function retryAfter(headers: HeaderFields): { retryAfterMs?: number } {
  const field = headers['retry-after'];
  const seconds = Number(field);
  const ms = Number.isFinite(seconds)
    ? seconds * 1_000
    : Date.parse(String(field)) - Date.parse(String(headers['date']));
  return ms > 0 ? { retryAfterMs: ms } : {};
}

export const AGENT: Counterpart = {
  name: 'agent',
  fields: ['a2aUrl'],
  check: 'check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent',
  expected: 'JSON or an event stream',
};
export const PLATFORM: Counterpart = {
  name: 'platform',
  fields: ['serviceApiUrl'],
  check: 'check "serviceApiUrl" in configureServer',
  expected: 'the expected content',
  isPlatform: true,
};

/**
 * The error for a call without a response.
 *
 * `isRepeatable`: true if the same request may be sent again although the outcome of the first is unknown (RFC 9110
 * §9.2.2). An agent that timed out may have done its work, and a second message would repeat it.
 */
export function noResponse(
  { reason, sent, log }: Extract<UpstreamOutcome, { kind: 'failure' }>,
  { name, fields }: Counterpart,
  isRepeatable: boolean,
): UpstreamError {
  const retryable = isRepeatable || sent === 'nothing';
  const where = `${quoted(fields, ' and ')} in configureServer`;
  const failed = (code: ErrorCode, happened: string, hint: string, mayRetry: boolean = retryable): UpstreamError =>
    new UpstreamError(code, { ...addressFacts(`The ${name} ${happened}.`, hint, fields), retryable: mayRetry, log });
  if (reason === 'timeout') {
    const longer = 'If it needs longer, raise "headersMs" in the "timeouts" configuration block.';
    return failed('upstream_timeout', 'did not respond in time', `${longer} If it never responds, check ${where}.`);
  }
  if (reason === 'invalid') {
    const hint = `Check scheme and port of ${where}.`;
    return failed('upstream_invalid_response', 'sent a response that is not valid HTTP', hint, false);
  }
  // The visitor has left; there is nothing to fix.
  if (reason === 'aborted')
    return new UpstreamError('upstream_unreachable', { detail: `The ${name} cannot be reached.`, retryable, log });
  if (sent === 'on-stale-connection') {
    const detail = `The ${name} closed the connection as the request was sent.`;
    const hint = `Send it again. If this lasts, have the ${name} keep idle connections open for longer.`;
    return new UpstreamError('upstream_unreachable', { detail, hint, retryable, log });
  }
  const isReset = reason === 'reset';
  const expected = isReset ? ': a server that expects https closes a plain connection' : '';
  const hint = `If this lasts, check that the ${name} runs, and ${where}${expected}.`;
  return failed('upstream_unreachable', 'cannot be reached', hint, isReset ? retryable : true);
}

/**
 * Rejects redirects, which are neither followed nor passed on.
 *
 * @throws UpstreamError `upstream_redirect`.
 */
export function refuseRedirect({ status, headers, body }: HttpResponse, counterpart: Counterpart): void {
  if (status < 300 || status >= 400) return;
  discard(body);
  const to = locationOf(headers);
  throw new UpstreamError('upstream_redirect', {
    ...redirected(headers, counterpart),
    log: `status ${String(status)} from the ${counterpart.name}${to === '' ? '' : `, to ${to}`}`,
  });
}

export interface PlatformErrorsDependencies {
  /** Creates a signal that is aborted after a delay. */
  readonly deadline: (ms: number) => AbortSignal;
  /** The text for a log: on one line, without these or any other secrets, cut to the length of a log entry. */
  readonly conceal: (text: string, secrets: readonly string[]) => string;
}

/** Twice the length of a log entry, so that a secret at the end of the entry is read whole and recognised. */
export const MAX_SAID = 4_096;
/** Longer error bodies are not parsed, compressed or not: a megabyte of empty objects takes a parser 160 ms. */
export const MAX_ERROR_BYTES = 65_536;
/** Short, because a visitor waits for it. */
const READ_MS = 1_000;
/** Longer, because the visitor also reads it. */
const WHOLE_READ_MS = 10_000;
/** Longer secrets are assumed to consist of token characters. */
const MAX_ODD_SECRET = 128;
const TOKEN_CHARACTER = /[\w.~+/=%-]/;

/** Decides which of the platform's errors a browser may read, and reads the explanations in them, for operators only (decision 81). */
export class PlatformErrors {
  readonly #deps: PlatformErrorsDependencies;

  constructor(dependencies: PlatformErrorsDependencies) {
    this.#deps = dependencies;
  }

  /**
   * Passes every response below 400, and of 4xx those with JSON or without a body. `names` are fields that a replaced
   * response keeps.
   *
   * @throws UpstreamError `upstream_error` and ServiceAuthError `service_token_rejected` in place of any other response.
   */
  async toBrowserResponse(reply: PlatformReply, names: readonly string[] = []): Promise<HttpResponse> {
    const { response } = reply;
    if (response.status < 400) return response;
    const mayPass = response.status < 500 && !refusesSite(reply);
    if (mayPass && isJson(response.headers)) return response;
    const start = await this.#read(response.body);
    const isBare = start.isWhole && start.bytes.length === 0 && response.headers['content-type'] === undefined;
    if (mayPass && isBare) return { ...response, body: null };
    throw platformError(reply, reply.counterpart, await this.said(reply, start), names);
  }

  /** Reads a body that may be passed on after it was checked: all of it, unless it is longer or slower than a visitor should wait for. */
  start({ response }: PlatformReply): Promise<BodyStart> {
    return readStart(response.body, MAX_ERROR_BYTES, this.#deps.deadline(WHOLE_READ_MS));
  }

  /** The error that replaces a response, with its text for the log only; its body is discarded unless its start was read before. */
  async replacing(reply: PlatformReply, start?: BodyStart): Promise<ServiceAuthError | UpstreamError> {
    return platformError(reply, reply.counterpart, await this.said(reply, start));
  }

  /**
   * A response as text for the log: status, media type and the start of the body, such as `status 502 from the agent,
   * text/html: <h1>…`. The body is discarded unless its start was read before.
   */
  async said({ response, credential, counterpart }: QuotedReply, start?: BodyStart): Promise<string> {
    const { bytes, isWhole } = start ?? (await this.#read(response.body));
    const head = headOf(response, counterpart);
    const coding = response.headers['content-encoding'];
    if (coding !== undefined && coding !== 'identity') {
      return this.#conceal(`${head}, compressed (${String(coding)})`, credential);
    }
    if (bytes.length === 0) return this.#conceal(`${head}, ${isWhole ? 'no body' : 'body unread'}`, credential);
    const text = new TextDecoder().decode(bytes);
    return this.#conceal(`${head}: ${isWhole ? text : `${withoutEnd(text, bytes.length === MAX_SAID)}…`}`, credential);
  }

  /** The start of a body that is not passed on; the rest is discarded. */
  #read(body: HttpBody): Promise<BodyStart> {
    return readStart(body, MAX_SAID, this.#deps.deadline(READ_MS));
  }

  /** Redacts the credential: platforms quote rejected credentials, with or without the scheme. */
  #conceal(text: string, { headers }: Credential): string {
    const values = Object.values(headers).flatMap((value) => value ?? []);
    return this.#deps.conceal(
      text,
      values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)]),
    );
  }
}

function headOf(response: Pick<HttpResponse, 'status' | 'headers'>, from: Counterpart | undefined): string {
  const type = mediaType(response.headers);
  const sender = from === undefined ? '' : ` from the ${from.name}`;
  const claims = challengedClaims(response.headers['www-authenticate']);
  const requested = claims === undefined ? '' : `, requests claims ${claims}`;
  return `status ${String(response.status)}${sender}${type === '' ? '' : `, ${type}`}${requested}`;
}

/** The text of a cut body without its last word: half a secret would not be recognised. */
function withoutEnd(text: string, isFull: boolean): string {
  let end = isFull ? Math.max(0, text.length - MAX_ODD_SECRET) : text.length;
  while (text.length - end < MAX_ODD_SECRET && /\S/.test(text.charAt(end - 1))) end -= 1;
  while (TOKEN_CHARACTER.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
