import { create, parse } from 'content-disposition';

/** Characters of a file name, of which each takes up to ten here; file systems take 255 bytes. */
const MAX_FILE_NAME = 768;
/** Characters a reader may take for something else: a quote, an escape, or a percent-encoded byte. */
const AMBIGUOUS = /[^\x20-\x7e]|["\\%]/gu;

/**
 * Reads a `Content-Disposition` and writes its type and file name, the name in ASCII and, where that is not the whole of it, in UTF-8 besides
 * (RFC 6266 §4.3, RFC 8187). `undefined` when it has no type that can be read; `isWhole` is false when its file name is missing.
 */
export function writtenDisposition(text: string): { readonly value: string; readonly isWhole: boolean } | undefined {
  const { type: token, parameters } = parse(text);
  const type = dispositionType(token);
  if (type === undefined) return undefined;
  const given = parameters['filename'] ?? parameters['filename*'];
  const name = fileName(parameters['filename'] ?? '');
  if (name === '' || name.length > MAX_FILE_NAME) return { value: type, isWhole: given === undefined };
  return { value: create(name, { type, fallback: name.replace(AMBIGUOUS, '_') }), isWhole: true };
}

/** An unknown type is an attachment (RFC 6266 §4.2), and so is one that only begins like it. */
function dispositionType(token: string): 'inline' | 'attachment' | undefined {
  if (token === 'inline') return token;
  return /^(?:[\w!#$%&'*+.^`|~-]+$|attachment\b)/.test(token) ? 'attachment' : undefined;
}

/** The name without control characters, and without halves of characters, which have no encoding. */
function fileName(name: string): string {
  return name.replace(/[\p{Cc}\p{Surrogate}]/gu, '').trim();
}
