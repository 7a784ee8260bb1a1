/** Header fields of a message, by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The media type of a message in lower case, without parameters; empty when it has none. */
export function mediaType(headers: Fields): string {
  const field = headers['content-type'];
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** True for a message that is JSON by its media type (RFC 6839 §3.1), and nothing a browser could take it for besides. */
export function isJson(headers: Fields): boolean {
  if (typeof headers['content-type'] !== 'string') return false;
  const type = mediaType(headers);
  return type === 'application/json' || (type.endsWith('+json') && !type.includes(','));
}

/** True for a stream of server-sent events. */
export function isEventStream(headers: Fields): boolean {
  return mediaType(headers) === 'text/event-stream';
}
