/**
 * Issuer and subject of a JWT, without a check of its signature; absent when it is no JWT.
 * Only for tokens out of a session that the library itself sealed: one that a browser could choose would name any user.
 */
export function jwtSubject(token: string): string | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const { iss, sub } = Object(claims) as { iss?: unknown; sub?: unknown };
    return typeof iss === 'string' && typeof sub === 'string' ? `${iss}|${sub}` : undefined;
  } catch {
    return undefined;
  }
}
