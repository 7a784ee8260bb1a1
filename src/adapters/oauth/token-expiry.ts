import { jwtClaims } from '../../domain/shared/json.js';

const UNKNOWN_LIFE_MS = 60_000;
const MAX_LIFE_MS = 86_400_000;

/**
 * When a token ends, in milliseconds since the epoch.
 * `expires_in` counts, then the token's own `exp`; a token that tells neither, or a date in the past, is kept for a minute.
 * A longer life than a day is cut to a day.
 */
export function tokenExpiry(token: string, expiresInSeconds: number | undefined, now: number): number {
  if (expiresInSeconds !== undefined && expiresInSeconds > 0) {
    return now + Math.min(expiresInSeconds * 1000, MAX_LIFE_MS);
  }
  const expiresAt = jwtExpiry(token);
  if (expiresAt !== undefined && expiresAt > now) return Math.min(expiresAt, now + MAX_LIFE_MS);
  return now + UNKNOWN_LIFE_MS;
}

/** The `exp` of a JWT in milliseconds since the epoch; undefined for any other text. The signature is not looked at. */
export function jwtExpiry(token: string): number | undefined {
  const exp = jwtClaims(token)?.['exp'];
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
}
