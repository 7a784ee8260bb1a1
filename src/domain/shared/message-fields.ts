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
