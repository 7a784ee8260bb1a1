import type { ProviderAnswer } from './send-request.js';

/**
 * The metadata of an authority, asked for once: callers that come at once share one request, and what failed is forgotten.
 * msal-node would ask again for every caller (its applications here live for one call), and never in one request for several.
 */
export class MetadataCache {
  readonly #answers = new Map<string, Promise<ProviderAnswer>>();

  /** The answer known for an address, or the one `ask` gives. */
  get(url: string, ask: () => Promise<ProviderAnswer>): Promise<ProviderAnswer> {
    const known = this.#answers.get(url);
    if (known !== undefined) return known;
    const answer = ask();
    this.#answers.set(url, answer);
    const forget = (): void => {
      if (this.#answers.get(url) === answer) this.#answers.delete(url);
    };
    answer.then(({ status }) => status !== 200 && forget(), forget);
    return answer;
  }

  /** Asks again at the next call. */
  forget(): void {
    this.#answers.clear();
  }
}
