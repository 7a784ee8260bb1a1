import { checkStatus, readJson } from '../site-fetch.js';

export type SurfaceAddress = { readonly id: string } | { readonly name: string };

/** The values the visitor entered; a list for names that occur more than once. */
export type ActionFields = Readonly<Record<string, string | readonly string[]>>;

export interface RenderedSurface {
  readonly id: string;
  readonly title: string;
  readonly html: string;
}

/** The address of one widget, and the site's routes for it. */
export interface SurfaceSite {
  readonly serviceSurfacesUrl: string;
  readonly configEndpoint: string;
  readonly address: SurfaceAddress;
}

/** The part of the site's configuration used for widgets. */
interface SurfaceConfiguration {
  readonly mediaOrigins?: readonly string[];
}

/** One widget, as served by the site's routes. */
export class SurfaceClient {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #signal: AbortSignal;
  readonly #configEndpoint: string;
  #mediaOrigins: Promise<readonly string[]> | undefined;

  constructor(
    { serviceSurfacesUrl, configEndpoint, address }: SurfaceSite,
    siteFetch: typeof fetch,
    signal: AbortSignal,
  ) {
    const path = 'id' in address ? encodeURIComponent(address.id) : `by-name/${encodeURIComponent(address.name)}`;
    this.#base = `${serviceSurfacesUrl}/${path}`;
    this.#configEndpoint = configEndpoint;
    this.#fetch = siteFetch;
    this.#signal = signal;
  }

  get themeUrl(): string {
    return `${this.#base}/theme.css`;
  }

  /** The theme's text. */
  async theme(): Promise<string> {
    const response = await this.#fetch(this.themeUrl, { signal: this.#signal });
    await checkStatus(response);
    return response.text();
  }

  /** The origins a widget may load from, besides the page's own; none if the site's configuration cannot be read. */
  mediaOrigins(): Promise<readonly string[]> {
    return (this.#mediaOrigins ??= this.#fetch(this.#configEndpoint, { signal: this.#signal })
      .then(readJson<SurfaceConfiguration>)
      .then(
        ({ mediaOrigins = [] }) => mediaOrigins,
        () => {
          this.#mediaOrigins = undefined; // the next render tries again
          return [];
        },
      ));
  }

  render(input: object): Promise<RenderedSurface> {
    return this.#post('render', input, 'html');
  }

  /** Submits an action; resolves to the platform's message. */
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
