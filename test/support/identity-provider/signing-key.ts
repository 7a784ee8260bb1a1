import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { createLocalJWKSet, jwtVerify, SignJWT, type JWK, type JWTPayload } from 'jose';

/** The claims of a user's token. */
export interface UserTokenOptions {
  readonly audience?: string;
  readonly scope?: string;
  /** Lifetime in seconds; negative for an expired token. Default 300. */
  readonly expiresInSeconds?: number;
  readonly claims?: Readonly<Record<string, unknown>>;
}

let pair: { publicKey: KeyObject; privateKey: KeyObject } | undefined;

/** The key set that a provider signs with. One RSA key per process, because creating one is slow. */
export function signingKeys(): { keys: JWK[] } {
  return {
    keys: [{ ...(keyPair().privateKey.export({ format: 'jwk' }) as JWK), kid: 'signing', use: 'sig', alg: 'RS256' }],
  };
}

/** Signs a user's token as the provider would after a sign-in. */
export function signUserToken(issuer: string, subject: string, options: UserTokenOptions): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const { audience, scope, expiresInSeconds = 300, claims } = options;
  const token = new SignJWT({ ...(scope === undefined ? {} : { scope }), ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: 'signing', typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(subject)
    .setIssuedAt(Math.min(now, now + expiresInSeconds) - 1)
    .setExpirationTime(now + expiresInSeconds)
    .setJti(randomUUID());
  if (audience !== undefined) token.setAudience(audience);
  return token.sign(keyPair().privateKey);
}

/** The claims of a token of this issuer; rejects when signature, issuer or dates are wrong. */
export async function verifyToken(issuer: string, token: string): Promise<JWTPayload> {
  const publicJwk = { ...(keyPair().publicKey.export({ format: 'jwk' }) as JWK), kid: 'signing' };
  return (await jwtVerify(token, createLocalJWKSet({ keys: [publicJwk] }), { issuer })).payload;
}

function keyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return (pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 }));
}
