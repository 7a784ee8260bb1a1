import { create, parse } from 'content-disposition';

/** Maximum length of a file name, each character of which takes up to ten here; file systems allow 255 bytes. */
const MAX_FILE_NAME = 768;
/** Characters a parser may misinterpret: a quote, an escape, or a percent-encoded byte. */
const AMBIGUOUS = /[^\x20-\x7e]|["\\%]/gu;

/**
 * Parses a `Content-Disposition` and rewrites its type and file name: the name in ASCII and, if that loses characters,
 * additionally in UTF-8 (RFC 6266 §4.3, RFC 8187). `undefined` if the type cannot be parsed; `isWhole` is false if the
 * file name was left out.
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

/** An unknown type is an attachment (RFC 6266 §4.2), and so is one that merely starts with a known type. */
function dispositionType(token: string): 'inline' | 'attachment' | undefined {
  if (token === 'inline') return token;
  return /^(?:[\w!#$%&'*+.^`|~-]+$|attachment\b)/.test(token) ? 'attachment' : undefined;
}

/** The name without characters that control or reorder it, and lone surrogates, which have no encoding. */
function fileName(name: string): string {
  return name.replace(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/gu, '').trim();
}
