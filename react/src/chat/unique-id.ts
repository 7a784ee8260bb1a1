/** A unique text: a UUID (RFC 9562), or 32 hex digits on pages without TLS, where `randomUUID` is missing. */
export function uniqueId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
