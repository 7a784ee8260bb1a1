/** Any page's address: what resolves to another origin than this one leaves the page's own. */
const OWN = 'https://own.invalid';

/** Decides about each address in a style sheet, and remembers which origins were refused. */
export class CssAddresses {
  readonly #allowed: ReadonlySet<string>;
  readonly #refused = new Map<string, number>();

  /** Origins that may be asked besides the page's own. */
  constructor(allowed: ReadonlySet<string>) {
    this.#allowed = allowed;
  }

  /**
   * The address to write: a relative one as it is, one at an allowed origin in full, `data:` as it is.
   * `undefined` for any other, which is counted.
   */
  judge(address: string): string | undefined {
    const text = trimmed(address);
    if (text === '' || text.startsWith('#') || /^data:/i.test(text)) return text;
    const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(text);
    const base = isRelative ? OWN : undefined;
    // A backslash is a slash to some readers of addresses only.
    if (text.includes('\\') || !URL.canParse(text, base)) return this.#refuse('an unreadable address');
    const url = new URL(text, base);
    if (isRelative && url.origin === OWN) return text;
    return this.#allowed.has(url.origin) ? url.href : this.#refuse(url.origin === 'null' ? url.protocol : url.origin);
  }

  /** Counts an address that is known only when the page is drawn. */
  refuseComputed(): undefined {
    return this.#refuse('a computed address');
  }

  /** The refused origins with their number, such as `https://cdn.example (2)`. */
  get refused(): readonly string[] {
    return [...this.#refused].map(([origin, times]) => `${origin} (${String(times)})`);
  }

  #refuse(origin: string): undefined {
    const name = this.#refused.has(origin) || this.#refused.size < MAX_NAMED ? origin : 'further origins';
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
  }
}

const MAX_NAMED = 8;

/** An address without what readers of addresses pass over (URL standard, "basic URL parser"). */
function trimmed(address: string): string {
  const text = address.replaceAll(/[\t\n\r]/g, '');
  let [start, end] = [0, text.length];
  while (start < end && text.charCodeAt(start) <= 0x20) start += 1;
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(start, end);
}
