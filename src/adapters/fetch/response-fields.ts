/**
 * Header fields written before there is a `Response`, as session libraries write them on a Node response:
 * a web-standard server gives them nothing to write on.
 */
export class ResponseFields {
  readonly headers: Headers = new Headers();
  /** True when nothing written here reaches the browser any more. */
  headersSent = false;

  getHeader(name: string): string | string[] | undefined {
    if (name.toLowerCase() === 'set-cookie') return this.headers.getSetCookie();
    return this.headers.get(name) ?? undefined;
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.delete(name);
    return this.appendHeader(name, typeof value === 'number' ? String(value) : value);
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    for (const single of typeof value === 'string' ? [value] : value) this.headers.append(name, single);
    return this;
  }
}
