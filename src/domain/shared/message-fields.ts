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

/** The cookies of a `cookie` field as sent, each `name=value`, in their order (RFC 6265 §5.4). Some may be empty. */
export function cookiePairs(field: string | readonly string[] | undefined): readonly string[] {
  return String(Array.isArray(field) ? field.join(';') : (field ?? ''))
    .split(';')
    .map((pair) => pair.trim());
}

/** Name and value of one cookie; the value is empty if the pair has no `=`. */
export function cookiePair(pair: string): [name: string, value: string] {
  const end = pair.indexOf('=');
  return end < 0 ? [pair.trim(), ''] : [pair.slice(0, end).trim(), pair.slice(end + 1).trim()];
}
