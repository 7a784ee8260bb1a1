import { inspect } from 'node:util';

/** The three bytes of a base64 group: what stands before a secret decides how it looks. */
const ALIGNMENTS = [0, 1, 2];

/** Looks for secrets in everything it is shown, in every spelling that forms, addresses, JSON and base64 give them. */
export class SecretScan {
  readonly #secrets = new Map<string, readonly string[]>();
  readonly #names = new Map<string, string>();
  readonly #seen: { readonly where: string; readonly text: string }[] = [];

  /** Declares a secret; `name` is what a failure says of it. */
  learn(name: string, secret: string): void {
    if (!this.#secrets.has(secret)) this.#secrets.set(secret, spellings(secret));
    this.#names.set(secret, name);
  }

  /** Shows a text that somebody may read. */
  text(where: string, text: string): void {
    this.#seen.push({ where, text });
  }

  /** Shows an object in every form a log or a debugger gives it. */
  object(where: string, value: unknown): void {
    this.text(
      `${where}, inspected`,
      inspect(value, { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null }),
    );
    this.text(`${where}, as JSON`, json(value));
    this.text(`${where}, as text`, `${String(value)}${value instanceof Error ? (value.stack ?? '') : ''}`);
  }

  /** How much was shown, so that a scan of nothing cannot pass. */
  get size(): number {
    return this.#seen.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Where which secret stands. */
  findings(): string[] {
    const found = new Set<string>();
    for (const { where, text } of this.#seen) {
      for (const [secret, forms] of this.#secrets) {
        if (forms.some((form) => text.includes(form))) found.add(`${this.#names.get(secret) ?? ''} in ${where}`);
      }
    }
    return [...found];
  }
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const lines = secret.includes('PRIVATE KEY') ? secret.split('\n').filter((line) => line.length === 64) : [];
  const escaped = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    escaped,
    // A text inside JSON inside JSON.
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    bytes.toString('hex'),
    ...ALIGNMENTS.flatMap((before) => base64Middle(bytes, before)),
    ...lines,
  ];
}

/** What base64 makes of these bytes wherever they stand: without the characters that also depend on their neighbours. */
function base64Middle(bytes: Buffer, before: number): string[] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '');
  const middle = whole.slice(before === 0 ? 0 : before + 1, -1);
  return [middle, middle.replaceAll('+', '-').replaceAll('/', '_')];
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    return String(error);
  }
}
