/** A minimal browser: keeps cookies by host, follows redirects and submits forms. */
export class CookieBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  /** Another browser with the same cookies. */
  copy(): CookieBrowser {
    const other = new CookieBrowser();
    for (const [host, jar] of this.#jars) other.#jars.set(host, new Map(jar));
    return other;
  }

  /** Sends one request with the cookies of its host and stores those of the response. Does not follow redirects. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const cookies = [...this.#jar(url)].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookies !== '') headers.set('cookie', cookies);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(url, line);
    return response;
  }

  /** Opens an address and follows all redirects. Returns the page and its address. */
  async open(url: string, init: RequestInit = {}): Promise<{ readonly url: string; readonly page: string }> {
    let response = await this.send(url, init);
    let at = url;
    for (let hops = 0; response.status >= 300 && response.status < 400; hops += 1) {
      if (hops > 20) throw new Error('the redirects go round in circles');
      at = new URL(response.headers.get('location') ?? '', at).href;
      await response.body?.cancel();
      response = await this.send(at);
    }
    return { url: at, page: await response.text() };
  }

  /** Submits the form of a page with its hidden fields and the given fields. */
  async submit(
    { url, page }: { readonly url: string; readonly page: string },
    fields: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly url: string; readonly page: string }> {
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`no form at ${url}: ${page.slice(0, 500)}`);
    const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = new URLSearchParams(hidden.map(([, name = '', value = '']) => [name, value]));
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return this.open(new URL(action, url).href, { method: 'POST', body: form });
  }

  #jar(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    return jar;
  }

  #keep(url: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const expires = attributes.find((attribute) => /^expires=/i.test(attribute))?.slice('expires='.length);
    if (value === '' || (expires !== undefined && Date.parse(expires) < Date.now())) this.#jar(url).delete(name);
    else this.#jar(url).set(name, value);
  }
}
