/** The claims of a JWT that the doctor compares with the configuration. */
export interface TokenClaims {
  readonly audience: readonly string[];
  readonly issuer: string;
  /** Scopes and roles together. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch; absent when the token does not say. */
  readonly expiresAt: number | undefined;
  readonly issuedAt: number | undefined;
}

/** Reads a token without checking its signature; `undefined` when it is no JWT. */
export function tokenClaims(token: string): TokenClaims | undefined {
  const [, payload] = token.split('.');
  if (payload === undefined) return undefined;
  let claims: unknown;
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof claims !== 'object' || claims === null) return undefined;
  const { aud, iss, scope, scp, roles, exp, iat } = claims as Record<string, unknown>;
  return {
    audience: texts(aud),
    issuer: typeof iss === 'string' ? iss : '',
    scopes: [...words(scope), ...words(scp), ...texts(roles)],
    expiresAt: typeof exp === 'number' ? exp * 1000 : undefined,
    issuedAt: typeof iat === 'number' ? iat * 1000 : undefined,
  };
}

function texts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item): item is string => typeof item === 'string');
}

function words(value: unknown): string[] {
  return typeof value === 'string' ? value.split(' ').filter((word) => word !== '') : texts(value);
}
