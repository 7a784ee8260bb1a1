import { createPublicKey, type KeyObject } from 'node:crypto';

import { errors, jwtVerify } from 'jose';

import { TokenRefused } from './token-refused.js';

/** The public half of a service account's key, as registered by its owner. */
export interface RegisteredKey {
  readonly kid: string;
  readonly publicKeyPem: string;
  /** The service account the key belongs to. */
  readonly subject: string;
}

interface Account {
  readonly key: KeyObject;
  readonly subject: string;
}

const MAX_LIFE_SECONDS = 300;

/** The platform's register of service accounts, and its rules for their tokens. */
export class ServiceAccounts {
  readonly #audience: string;
  readonly #accounts = new Map<string, Account>();

  constructor(audience: string, keys: readonly RegisteredKey[]) {
    this.#audience = audience;
    for (const key of keys) this.register(key);
  }

  register({ kid, publicKeyPem, subject }: RegisteredKey): void {
    this.#accounts.set(kid, { key: createPublicKey(publicKeyPem), subject });
  }

  /** The service account that signed the token. */
  async verify(token: string): Promise<string> {
    let account: Account | undefined;
    const verified = await jwtVerify(
      token,
      ({ kid }) => {
        account = kid === undefined ? undefined : this.#accounts.get(kid);
        if (account === undefined) throw new TokenRefused('The key is not registered.');
        return account.key;
      },
      { algorithms: ['RS256'], audience: this.#audience, requiredClaims: ['sub', 'iat', 'exp'] },
    ).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new TokenRefused(`The token is not valid: ${error.code}.`) : error;
    });

    const { sub = '', iat = 0, exp = Infinity } = verified.payload;
    if (sub !== account?.subject) throw new TokenRefused('The key belongs to another service account.');
    if (exp - iat > MAX_LIFE_SECONDS) throw new TokenRefused('The token lives longer than five minutes.');
    return sub;
  }
}
