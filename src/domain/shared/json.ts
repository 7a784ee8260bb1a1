import { scanJson } from './json-document.js';

/** The value of a JSON text; `undefined` if there is no text, it is not JSON, is nested too deeply, or holds too many values. */
export function parsedJson(text: string | undefined, maxValues: number = Infinity): unknown {
  try {
    scanJson(text ?? '', maxValues);
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** True for a JSON object, false for a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The claims of a JWT, whose signature is not verified; `undefined` if the text is not a JWT (RFC 7519 §7.2). */
export function jwtClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  const claims = parsedJson(fromBase64Url(payload));
  return isObject(claims) ? claims : undefined;
}

/** Decodes base64 or base64url; `undefined` if the text is neither. */
export function fromBase64Url(text: string): string | undefined {
  try {
    const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** A part of a cache key, delimited by its length or its brackets: two different lists of parts never result in the same text. */
export function delimited(part: unknown): string {
  if (typeof part === 'string') return `${part.length.toString()} ${part}`;
  return part === null ? 'null' : JSON.stringify(part);
}
