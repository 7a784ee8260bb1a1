import type { HeaderFields } from '../../ports/http.js';

/** Codings every browser and every host of ours knows, also when nobody asked for them. */
const COMMON_CODINGS: ReadonlySet<string> = new Set(['identity', 'gzip', 'x-gzip', 'deflate', 'br']);

/**
 * The field of a response that nobody could read for sure, whose response is refused (decision 85): a coding upon another, one that is unknown,
 * or one that was not asked for. Several types become one field, which says the same (RFC 9110 §5.3) and which every host can write.
 */
export function unreadableField(
  headers: Record<string, string | string[] | undefined>,
  accepted: string,
): string | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (Array.isArray(type)) headers['content-type'] = [...new Set(type)].join(', ');
  if (coding === undefined) return undefined;
  return typeof coding === 'string' && isReadable(coding.trim().toLowerCase(), accepted)
    ? undefined
    : 'content-encoding';
}

/** The codings a request asks for. */
export function acceptedCodings(headers: HeaderFields): string {
  return String(headers['accept-encoding'] ?? '').toLowerCase();
}

function isReadable(coding: string, accepted: string): boolean {
  if (COMMON_CODINGS.has(coding)) return true;
  const names = accepted.split(',').map((one) => (one.split(';', 1)[0] ?? '').trim());
  return !coding.includes(',') && (names.includes(coding) || names.includes('*'));
}
