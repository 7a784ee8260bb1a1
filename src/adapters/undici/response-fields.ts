import type { HeaderFields } from '../../ports/http.js';

/** Codings every browser and every host of ours knows, also when nobody asked for them. */
const COMMON_CODINGS: ReadonlySet<string> = new Set(['identity', 'gzip', 'x-gzip', 'deflate', 'br']);

/**
 * The field of a response that nobody could read for sure, whose response is refused (decision 85): several types, or a coding upon another,
 * that is unknown, or that was not asked for. A type that is only repeated becomes one.
 */
export function unreadableField(
  headers: Record<string, string | string[] | undefined>,
  accepted: string,
): string | undefined {
  const { 'content-type': type, 'content-encoding': coding } = headers;
  if (Array.isArray(type)) {
    if (new Set(type).size > 1) return 'content-type';
    headers['content-type'] = type[0];
  }
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
