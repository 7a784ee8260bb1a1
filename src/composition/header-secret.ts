import { ConfigurationError } from '../domain/errors.js';
import { secret } from '../domain/secret.js';
import type { Secret } from '../ports/secret.js';

/**
 * A secret that is sent as a header field, so it must be one line of visible characters (RFC 9110 §5.5); `undefined` when empty.
 *
 * @throws ConfigurationError naming the field.
 */
export function headerSecret(field: string, value: string | undefined): Secret | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return secret(value);
  throw new ConfigurationError({
    detail: `"${field}" holds characters that no header field may have.`,
    hint: `Set "${field}" to the key as the platform shows it, without spaces, quotes or line breaks.`,
    block: 'configureServer',
    fields: [field],
  });
}
