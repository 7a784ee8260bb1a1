/** Whether something is a token that a header field can hold: ASCII without control characters, and no blank at either end (RFC 9110 §5.5). */
export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.trim() === value;
}

/** A token as sites take it from an `authorization` field of their own, without the scheme (RFC 6750 §2.1). */
export function withoutScheme(value: string): string {
  return /^bearer /i.test(value) ? value.slice('bearer '.length).trimStart() : value;
}
