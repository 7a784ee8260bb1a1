import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { ChatAnswer, CredentialSite } from './credential-site.js';

/** Words of providers and libraries that are nobody's business outside. */
const PROVIDER_WORDS = [
  'AADSTS',
  'Trace ID',
  'Correlation ID',
  'microsoftonline',
  'ECONN',
  'ENOENT',
  'UND_ERR',
  'OAUTH_',
];

/** Everything a run showed: to visitors, to operators, and to whoever prints an object. */
export class Evidence {
  readonly #visible: string[] = [];
  readonly #logged: string[] = [];
  readonly #printed: string[] = [];
  readonly #secrets = new Set<string>();
  readonly #places = new Set<string>(PROVIDER_WORDS);

  /** Texts that nobody may see: whole, or in the spellings of addresses, forms, JSON and base64. */
  hide(...secrets: readonly string[]): void {
    for (const secret of secrets) {
      // Of a key in PEM form each line is a secret.
      const pieces = secret.includes('-----')
        ? secret.split('\n').filter((line) => /^[\w+/=]{30,}$/.test(line))
        : [secret];
      for (const piece of pieces) this.#secrets.add(piece);
    }
  }

  /** Texts that visitors may not see, but operators may: hosts, paths, identifiers. */
  conceal(...places: readonly string[]): void {
    for (const place of places) this.#places.add(place);
  }

  /** Takes down an answer, what the site logged, and what its objects print. */
  async take({ telemetry, toolkit }: CredentialSite, answer: ChatAnswer): Promise<void> {
    this.#visible.push(JSON.stringify(answer.headers) + answer.body);
    this.#logged.push(telemetry.events.map((event) => JSON.stringify(event)).join('\n'));
    const error: unknown = await toolkit.authHeaders().catch((thrown: unknown) => thrown);
    if (error instanceof Error) {
      this.print(error);
      this.#visible.push(error.message + JSON.stringify(error));
    }
    this.print(toolkit);
  }

  /** Takes down what an object looks like in a debugger's console. */
  print(value: unknown): void {
    this.#printed.push(inspect(value, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null }));
  }

  /** Searches everything. A count guards against a search that looked at nothing. */
  expectNothingLeaked(fewest: number): void {
    expect(this.#visible.length).toBeGreaterThanOrEqual(fewest);
    expect(this.#secrets.size).toBeGreaterThan(0);
    expect(this.#logged.join('').length).toBeGreaterThan(fewest * 50);
    const everything = [...this.#visible, ...this.#logged, ...this.#printed];
    const found = [
      ...[...this.#secrets].flatMap(spellings).filter((text) => everything.some((place) => place.includes(text))),
      ...[...this.#places].filter((text) => this.#visible.some((place) => place.includes(text))),
    ];
    expect(found).toEqual([]);
  }
}

function spellings(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  ];
}
