import { JsonCursor, JsonTextError, MAX_JSON_DEPTH } from './json-cursor.js';

const encoder = new TextEncoder();

/**
 * The value of a JSON text; `undefined` when there is no text, it is no JSON, or it is nested deeper than 1,000 levels:
 * whatever walks or writes such a value needs a call for each level, and the stack ends.
 */
export function parsedJson(text: string | undefined): unknown {
  try {
    // A level takes two characters.
    if (text !== undefined && text.length > 2 * MAX_JSON_DEPTH) new JsonCursor(encoder.encode(text)).skipValue();
    return JSON.parse(text ?? '');
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonTextError) return undefined;
    throw error;
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
