import type { PrivateKeyReading, PrivateKeySource } from './private-key.js';
import { pemAdvice } from './key-advice.js';
import { readPem } from './pem.js';

/** Where a key given as text comes from. */
export interface KeyTextOptions {
  /** The value of `privateKeyPem`. */
  readonly text: string;
  /** The configuration block named in advice, such as `serviceAccount`. */
  readonly block: string;
}

/** A private key that stands in the configuration as text. */
export class KeyText implements PrivateKeySource {
  readonly #reading: PrivateKeyReading;

  constructor(options: KeyTextOptions) {
    const pem = readPem(options.text);
    this.#reading =
      pem.kind === 'key'
        ? pem
        : {
            kind: 'unusable',
            field: 'privateKeyPem',
            advice: pemAdvice('privateKeyPem', options.block, pem.fault),
            detail: `privateKeyPem: ${pem.fault} ${pem.code}`.trimEnd(),
          };
  }

  read(): Promise<PrivateKeyReading> {
    return Promise.resolve(this.#reading);
  }
}
