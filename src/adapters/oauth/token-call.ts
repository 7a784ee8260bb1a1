import { ByteCollector } from '../../domain/shared/bytes.js';
import { withTimeout } from '../../domain/shared/deadline.js';
import { isObject, parsedJson } from '../../domain/shared/json.js';
import { isLoopback } from '../../domain/shared/paths.js';
import { type ProviderError, responseError, type Stage, thrownFault } from './provider-error.js';

/** Sends one request, like `globalThis.fetch`, or a `fetch` that trusts a private certificate authority. */
export type Fetch = (url: string, options: RequestInit) => Promise<Response>;

/** Options shared by the requests of one call. */
export interface TokenCallOptions {
  readonly fetch: Fetch;
  /** Milliseconds for the call in total, discovery included. */
  readonly timeoutMs: number;
  /** Responses by their address, cached between calls until a time in milliseconds since the epoch. */
  readonly metadata: Map<string, { readonly received: Promise<Received>; until: number }>;
  /** Also allows http on this machine. */
  readonly allowInsecure: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A token, and its lifetime as stated by the provider. */
export interface ReceivedToken {
  readonly value: string;
  /** Above 0. */
  readonly expiresInSeconds: number | undefined;
}

interface Received {
  readonly response: Response;
  /** The body, if it is a JSON object; otherwise undefined. */
  readonly body: JsonObject | undefined;
  readonly text: string;
}

const DAY_MS = 86_400_000;

/** Longer responses are rejected: metadata has a few kilobytes, and a token must fit into a header field. */
const MAX_BYTES = 262_144;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The network used by a provider's library during one token request. It records the token and the failure before the
 * library reduces them: the library only receives successful responses, with the members it needs (decision 8).
 */
export class TokenCall {
  readonly #options: TokenCallOptions;
  readonly #deadline: AbortSignal;
  /** The last request. */
  stage: Stage = 'local';
  failure: ProviderError | undefined;
  token: ReceivedToken | undefined;

  constructor(options: TokenCallOptions) {
    this.#options = options;
    this.#deadline = AbortSignal.timeout(options.timeoutMs);
  }

  /** The provider's metadata. Concurrent callers share one request; if a later one fails, the former response is kept. */
  get(url: string, headers: Record<string, string> = {}): Promise<JsonObject> {
    this.stage = 'metadata';
    const { metadata, timeoutMs, now } = this.#options;
    const known = metadata.get(url);
    if (known !== undefined && now < known.until) return this.#goodBody(known.received);
    // A deadline of its own: otherwise the first caller's timeout would fail everyone waiting. Half of it leaves time
    // for the token.
    const signal = AbortSignal.timeout(known === undefined ? timeoutMs : Math.ceil(timeoutMs / 2));
    const sent = this.#send(url, { method: 'GET', headers, signal });
    const former = (): Promise<Received> => known?.received ?? sent;
    const received = sent.then((one) => (isGood(one) ? one : former()), former);
    metadata.set(url, { received, until: now + DAY_MS });
    return this.#goodBody(received);
  }

  /** The token response, reduced to the members used here: a library could reject the others. */
  async post(url: string, headers: Record<string, string> = {}, body = ''): Promise<JsonObject> {
    this.stage = 'token';
    const sent = this.#send(url, { method: 'POST', headers, body, signal: this.#deadline });
    const { access_token: value, expires_in: expiresIn } = await this.#goodBody(sent);
    if (typeof value !== 'string') throw this.#refused(await sent);
    if (!/^[\x21-\x7e]+$/.test(value)) {
      const description = 'the token is not valid in a header field';
      throw this.#failed({ kind: 'fault', stage: this.stage, code: 'ERR_UNREADABLE_RESPONSE', description });
    }
    const expiresInSeconds = seconds(expiresIn);
    this.token = { value, expiresInSeconds };
    return { token_type: 'Bearer', access_token: value, expires_in: expiresInSeconds };
  }

  async #goodBody(received: Promise<Received>): Promise<JsonObject> {
    const one = await received.catch((thrown: unknown) => {
      throw this.#failed(thrownFault(thrown, this.stage));
    });
    if (!isGood(one)) throw this.#refused(one);
    return one.body;
  }

  #refused({ response, body, text }: Received): Error {
    return this.#failed(responseError(this.stage, response, body, this.#options.now, text));
  }

  #send(url: string, options: RequestInit & { readonly signal: AbortSignal }): Promise<Received> {
    // A secret must not be sent to a redirect's target.
    return withTimeout(options.signal, this.#receive(url, { ...options, redirect: 'manual' }));
  }

  async #receive(url: string, options: RequestInit): Promise<Received> {
    const { fetch, allowInsecure } = this.#options;
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'https:' && !(allowInsecure && isLoopback(hostname))) {
      throw Object.assign(new Error('not an https address'), { code: 'ERR_NOT_HTTPS' });
    }
    const response = await fetch(url, options);
    const text = await textOf(response);
    const body = parsedJson(text);
    return { response, body: isObject(body) ? body : undefined, text };
  }

  #failed(failure: ProviderError): Error {
    this.failure = failure;
    return new Error('recorded as the failure of this call');
  }
}

function isGood(one: Received): one is Received & { readonly body: JsonObject } {
  return one.response.status === 200 && one.body !== undefined && one.body['error'] === undefined;
}

/** The body as text; empty if it is too long, in which case the rest is not read. */
async function textOf({ body }: Response): Promise<string> {
  const collector = new ByteCollector();
  for await (const chunk of body ?? []) {
    collector.push(chunk);
    if (collector.length > MAX_BYTES) return '';
  }
  return new TextDecoder().decode(collector.take());
}

function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
