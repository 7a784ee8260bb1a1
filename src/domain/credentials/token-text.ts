/** Whether something is a token that a header field can hold: ASCII without control characters, and no blank at either end (RFC 9110 §5.5). */
export function isTokenText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.trim() === value;
}
