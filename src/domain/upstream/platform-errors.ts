import type { HttpResponse } from '../../ports/http.js';
import type { ServiceAuthError, UpstreamError } from '../errors.js';
import type { BodyStart } from './body-bytes.js';
import type { ErrorExcerpts } from './error-excerpts.js';
import { isJson } from './header-policy.js';
import type { Counterpart } from './wrong-address.js';
import { platformError, type PlatformReply, refusesSite } from './platform-error.js';

/** Decides what of the platform's own errors a browser may read (DESIGN §5; decision 81). */
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
