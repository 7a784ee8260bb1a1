/** A unique text: a UUID (RFC 9562), or digits on pages without TLS and in old browsers. It is no secret. */
export function uniqueId(): string {
  return globalThis.crypto?.randomUUID?.() ?? [Date.now(), Math.random(), Math.random()].join('-');
}
