import { checkStatus, readJson } from '../site-fetch.js';

export type SurfaceAddress = { readonly id: string } | { readonly name: string };

/**
 * A JSON object that a render depends on.
 *
 * @public
 */
export type SurfaceInput = Readonly<Record<string, unknown>>;

/**
 * What the visitor has filled in; a list where a name comes more than once.
 *
 * @public
 */
export type ActionFields = Readonly<Record<string, string | readonly string[]>>;

export interface RenderedSurface {
  readonly id: string;
  readonly title: string;
  readonly html: string;
}

/** One widget as the site's routes serve it. */
export class SurfaceClient {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #signal: AbortSignal;

  constructor(serviceSurfacesUrl: string, address: SurfaceAddress, siteFetch: typeof fetch, signal: AbortSignal) {
    const path = 'id' in address ? encodeURIComponent(address.id) : `by-name/${encodeURIComponent(address.name)}`;
    this.#base = `${serviceSurfacesUrl}/${path}`;
    this.#fetch = siteFetch;
    this.#signal = signal;
  }

  get themeUrl(): string {
    return `${this.#base}/theme.css`;
  }

  /** The theme's text, for sites whose requests need header fields of their own. */
  async theme(): Promise<string> {
    const response = await this.#fetch(this.themeUrl, { signal: this.#signal });
    await checkStatus(response);
    return response.text();
  }

  render(input: SurfaceInput): Promise<RenderedSurface> {
    return this.#post('render', input, 'html');
  }

  /** Submits an action; resolves to what the platform says to it. */
  async act(action: string, fields: ActionFields): Promise<string> {
    const { message = '' } = await this.#post<{ message?: string }>(`actions/${encodeURIComponent(action)}`, {
      fields,
    });
    return message;
  }

  async #post<Body>(path: string, body: object, ...members: readonly (keyof Body)[]): Promise<Body> {
    const response = await this.#fetch(`${this.#base}/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: this.#signal,
    });
    return readJson<Body>(response, ...members);
  }
}
