import { CookieBrowser } from './cookie-browser.js';

/** One person at the demo site, with a separate browser. */
export class DemoVisitor {
  readonly browser: CookieBrowser = new CookieBrowser();
  readonly #site: string;

  constructor(site: string) {
    this.#site = site;
  }

  /** Sends one request with this browser's cookies. */
  send(method: string, path: string, body?: unknown): Promise<Response> {
    return this.browser.send(this.#site + path, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json', 'a2a-version': '1.0' }, body: JSON.stringify(body) }),
    });
  }

  /** The JSON of a response with status 200. */
  async read<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const response = await this.send(method, path, body);
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  /** Signs in through the page's link for this user. */
  async signIn(user: string): Promise<this> {
    const page = await this.browser.open(`${this.#site}/auth/login?user=${user}`);
    // Another user is signed in at the provider, which first asks to end that session. A browser with scripts submits this page by itself.
    if (page.page.includes('/session/end/confirm"')) await this.browser.submit(page);
    return this;
  }

  async name(): Promise<string | null> {
    const { user } = await this.read<{ user: { name: string } | null }>('GET', '/auth/me');
    return user?.name ?? null;
  }

  /** Renders a widget. `how` is the cache result. */
  async render(widget: string): Promise<Rendered & { readonly how: string | null }> {
    const response = await this.send('POST', `/api/service-surfaces/${widget}/render`, { locale: 'en' });
    return { ...((await response.json()) as Rendered), how: response.headers.get('x-cache') };
  }

  act(widget: string, action: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    return this.send('POST', `/api/service-surfaces/${widget}/actions/${action}`, { fields });
  }
}

interface Rendered {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly html: string;
}
