import { inspect } from 'node:util';

/** Positions in a base64 group. The bytes before a secret change its encoding. */
const ALIGNMENTS = [0, 1, 2];

/** Searches texts for secrets, in every encoding that forms, addresses, JSON and base64 use. */
export class SecretScan {
  readonly #secrets = new Map<string, readonly string[]>();
  readonly #names = new Map<string, string>();
  readonly #seen: { readonly where: string; readonly text: string }[] = [];

  /** Declares a secret; `name` stands for it in a failure. */
  learn(name: string, secret: string): void {
    if (!this.#secrets.has(secret)) this.#secrets.set(secret, spellings(secret));
    this.#names.set(secret, name);
  }

  /** Adds a text to the search. */
  text(where: string, text: string): void {
    this.#seen.push({ where, text });
  }

  /** Adds an object in every form that a log or debugger prints. */
  object(where: string, value: unknown): void {
    this.text(
      `${where}, inspected`,
      inspect(value, { depth: 12, showHidden: true, maxArrayLength: null, maxStringLength: null }),
    );
    this.text(`${where}, as JSON`, json(value));
    this.text(`${where}, as text`, `${String(value)}${value instanceof Error ? (value.stack ?? '') : ''}`);
  }

  /** The number of characters searched, so that an empty scan cannot pass. */
  get size(): number {
    return this.#seen.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Each secret that was found, and where. */
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
    // A JSON string inside a JSON string.
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    bytes.toString('hex'),
    ...ALIGNMENTS.flatMap((before) => base64Middle(bytes, before)),
    ...lines,
  ];
}

/** The base64 of these bytes at any position, without the characters that depend on neighbouring bytes. */
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
