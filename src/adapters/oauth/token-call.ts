import { ByteCollector } from '../../domain/shared/bytes.js';
import { beforeDeadline } from '../../domain/shared/deadline.js';
import { isObject, parsedJson } from '../../domain/shared/json.js';
import { isLoopback } from '../../domain/shared/paths.js';
import { type Fault, type ProviderError, responseError, type Stage, thrownFault } from './provider-error.js';

/** Sends one request, like `globalThis.fetch`, or a `fetch` that trusts a private certificate authority. */
export type Fetch = (url: string, options: RequestInit) => Promise<Response>;

/** Options shared by the requests of one call. */
export interface TokenCallOptions {
  readonly fetch: Fetch;
  /** Milliseconds for the call in total, discovery included. */
  readonly timeoutMs: number;
  /** Responses by their address, cached between calls. */
  readonly metadata: Map<string, Promise<Received>>;
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
}

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

  /** The provider's metadata. Concurrent callers share one request; failures are not cached. */
  get(url: string, headers: Record<string, string> = {}): Promise<JsonObject> {
    this.stage = 'metadata';
    const { metadata, timeoutMs } = this.#options;
    let known = metadata.get(url);
    if (known === undefined) {
      // A deadline of its own: otherwise the first caller's timeout would fail everyone waiting.
      known = this.#send(url, { method: 'GET', headers, signal: AbortSignal.timeout(timeoutMs) });
      metadata.set(url, known);
    }
    return this.#goodBody(known);
  }

  /** The token response, reduced to the members used here: a library could reject the others. */
  async post(url: string, headers: Record<string, string> = {}, body = ''): Promise<JsonObject> {
    this.stage = 'token';
    const sent = this.#send(url, { method: 'POST', headers, body, signal: this.#deadline });
    const { access_token: value, expires_in: expiresIn } = await this.#goodBody(sent);
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
      throw this.#failed(unreadable(this.stage, 'the token is not valid in a header field'));
    }
    const expiresInSeconds = seconds(expiresIn);
    this.token = { value, expiresInSeconds };
    return { token_type: 'Bearer', access_token: value, expires_in: expiresInSeconds };
  }

  async #goodBody(received: Promise<Received>): Promise<JsonObject> {
    const { response, body } = await received.catch((thrown: unknown) => {
      throw this.#failed(thrownFault(thrown, this.stage));
    });
    if (response.status !== 200 || body?.['error'] !== undefined) {
      throw this.#failed(responseError(this.stage, response, body, this.#options.now));
    }
    if (body === undefined) throw this.#failed(unreadable(this.stage, 'no JSON object'));
    return body;
  }

  #send(url: string, options: RequestInit & { readonly signal: AbortSignal }): Promise<Received> {
    // A secret must not be sent to a redirect's target.
    return beforeDeadline(options.signal, this.#receive(url, { ...options, redirect: 'manual' }));
  }

  async #receive(url: string, options: RequestInit): Promise<Received> {
    const { fetch, allowInsecure } = this.#options;
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'https:' && !(allowInsecure && isLoopback(hostname))) {
      throw Object.assign(new Error('not an https address'), { code: 'ERR_NOT_HTTPS' });
    }
    const response = await fetch(url, options);
    const body = parsedJson(await textOf(response));
    return { response, body: isObject(body) ? body : undefined };
  }

  #failed(failure: ProviderError): Error {
    // Metadata with a dead endpoint is requested again: the endpoint may have moved.
    if (failure.kind === 'response' && failure.status === 404) this.#options.metadata.clear();
    this.failure = failure;
    return new Error('recorded as the failure of this call');
  }
}

function unreadable(stage: Stage, description: string): Fault {
  return { kind: 'fault', stage, code: 'ERR_UNREADABLE_RESPONSE', description };
}

/** The body as text; `undefined` if it is too long, in which case the rest is not read. */
async function textOf({ body }: Response): Promise<string | undefined> {
  const collector = new ByteCollector();
  for await (const chunk of body ?? []) {
    collector.push(chunk);
    if (collector.length > MAX_BYTES) return undefined;
  }
  return new TextDecoder().decode(collector.take());
}

function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
