/** The value of a JSON text; `undefined` when there is no text, or it is no JSON. */
export function parsedJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** The claims of a JWT, whose signature is not looked at; `undefined` when the text is none (RFC 7519 §7.2). */
export function jwtClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  const claims = parsedJson(fromBase64Url(payload));
  return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined;
}

function fromBase64Url(text: string): string | undefined {
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
