import { type Secret, secret } from '../../domain/shared/secret.js';

/** What a secret must be that is sent as a header field, in words. */
export const HEADER_KEY = 'the key alone, without spaces, quotes or line breaks';

/** Whether a value can be sent as a header field: one line of visible characters (RFC 9110 §5.5). */
export function isHeaderKey(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}

/** A secret that is sent as a header field; `undefined` when empty. */
export function headerSecret(value: string | undefined): Secret | undefined {
  return value === undefined || value === '' ? undefined : secret(value);
}
