/** Fields that belong to a connection of HTTP/1.1: no other may carry them (RFC 9110 §7.6.1, RFC 9113 §8.2.2). */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** Fields that belong to one message and not to the caller: copying them would break or redirect a call. */
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  ...CONNECTION_FIELDS,
  'content-length',
  'host',
  'te',
  'trailer',
]);

/** The same response, marked as the last one of its connection (RFC 9112 §9.6). */
export function closing<Response extends { readonly headers: object }>(response: Response): Response {
  return { ...response, headers: { ...response.headers, connection: 'close' } };
}

/** The cookies of a `cookie` field as sent, each `name=value`, in their order (RFC 6265 §5.4). Some may be empty. */
export function cookiePairs(field: string | readonly string[] | undefined): readonly string[] {
  return String(Array.isArray(field) ? field.join(';') : (field ?? ''))
    .split(';')
    .map(unpadded);
}

/** Name and value of one cookie; the value is empty if the pair has no `=`. */
export function cookiePair(pair: string): [name: string, value: string] {
  const end = pair.indexOf('=');
  return end < 0 ? [unpadded(pair), ''] : [unpadded(pair.slice(0, end)), unpadded(pair.slice(end + 1))];
}

/**
 * A text without the blanks around it (RFC 6265 §5.2). `trim` would also drop U+00A0, and any host of the domain may set
 * a cookie of the name U+00A0 `__Host-…`, which browsers do not protect.
 */
function unpadded(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
