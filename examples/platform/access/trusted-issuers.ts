import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';

import { TokenRefused } from './token-refused.js';

/** An OpenID provider whose users may use the platform. */
export interface TrustedIssuer {
  readonly issuer: string;
  /** The address of its public keys. */
  readonly jwksUri: string;
}

/** The OpenID providers the platform trusts, and its rules for their users' access tokens. */
export class TrustedIssuers {
  readonly #audience: string;
  readonly #keys = new Map<string, JWTVerifyGetKey>();

  constructor(audience: string) {
    this.#audience = audience;
  }

  trust({ issuer, jwksUri }: TrustedIssuer): void {
    this.#keys.set(issuer, createRemoteJWKSet(new URL(jwksUri)));
  }

  has(issuer: string | undefined): issuer is string {
    return issuer !== undefined && this.#keys.has(issuer);
  }

  /** The user the token was issued for. The prefix marks a user, since a service account may have the same name. */
  async verify(token: string, issuer: string): Promise<string> {
    const key = this.#keys.get(issuer);
    if (key === undefined) throw new TokenRefused('The issuer is not trusted.');
    const verified = await jwtVerify(token, key, {
      issuer,
      audience: this.#audience,
      algorithms: ['ES256', 'RS256'],
      // An ID token is not an access token, though the same key signs both (RFC 9068 §4).
      typ: 'at+jwt',
      requiredClaims: ['sub', 'exp'],
    }).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new TokenRefused(`The token is not valid: ${error.code}.`) : error;
    });
    return `user:${verified.payload.sub ?? ''}`;
  }
}
