import { uriDecoded } from '../shared/bytes.js';

// The one validator for every forwarded path. It checks the raw text, which is the text that is sent.

const MAX_CHARACTERS = 256;
/** Servers behind the platform's own gateway may decode repeatedly. */
const MAX_DECODINGS = 4;

// oxlint-disable-next-line no-control-regex
const SEPARATOR_OR_CONTROL = /[\u0000-\u001f\u007f-\u009f/\\]/;
/** Segments that every parser decodes to the same text. */
const PLAIN = /^[\w-][\w.-]*$/;
/** The start of an overlong ASCII character, or `%uXXXX`: both are invalid, but some parsers accept them. */
const LENIENT = /%(?:c[01]|e0%[89]|f[08c]%8|u[\da-f]{4})/i;

/**
 * One path segment, decoded once. `undefined` if it is empty, too long or not UTF-8, or if it is, or after further
 * decoding becomes, a dot segment or contains a slash, a backslash or a control character.
 */
export function decodeSegment(raw: string): string | undefined {
  if (PLAIN.test(raw)) return raw.length > MAX_CHARACTERS ? undefined : raw;
  const readings = readingsOf(raw);
  if (readings === undefined || readings.some((reading) => isUnsafe(reading))) return undefined;
  const [decoded = ''] = readings;
  return decoded.length > MAX_CHARACTERS ? undefined : decoded;
}

/** True if a raw path, such as `/conversations/7/`, stays below whatever it is appended to, however often it is decoded. */
export function isSafePath(path: string): boolean {
  if (!path.startsWith('/')) return false;
  const segments = path.slice(1).split('/');
  if (segments.at(-1) === '') segments.pop();
  return segments.length > 0 && segments.every(isSafeSegment);
}

/** True if a raw query, empty or with its `?`, can be appended to a path without ending it or starting a fragment. */
export function isSafeQuery(query: string): boolean {
  return query === '' || /^\?[\x21\x22\x24-\x7e]*$/.test(query);
}

function isSafeSegment(raw: string): boolean {
  // The path is sent unchanged, so a parser that decodes before it splits must find no query or fragment either.
  return decodeSegment(raw) !== undefined && readingsOf(raw)?.some((reading) => /[?#]/.test(reading)) === false;
}

/**
 * The readings of a raw segment: decoded once, then repeatedly, also in Unicode compatibility form; `undefined` if
 * decoding does not end.
 */
function readingsOf(raw: string): readonly string[] | undefined {
  if (!/^[\x21-\x7e]+$/.test(raw) || /[\\#?]/.test(raw)) return undefined;
  const first = uriDecoded(raw);
  if (first === undefined) return undefined;
  const readings = [first];
  let reading = first;
  for (let count = 1; count <= MAX_DECODINGS; count += 1) {
    const folded = reading.normalize('NFKC');
    if (folded !== reading) readings.push(folded);
    const next = uriDecoded(folded) ?? decodeAscii(folded);
    if (next === folded) return readings;
    readings.push(next);
    reading = next;
  }
  return undefined;
}

function isUnsafe(reading: string): boolean {
  if (SEPARATOR_OR_CONTROL.test(reading) || LENIENT.test(reading)) return true;
  // Some servers remove parameters (`..;x=1`), some remove blanks.
  const name = reading.split(';', 1)[0]?.trim() ?? '';
  return name === '' || name === '.' || name === '..';
}

/** Decodes a text leniently, if it cannot be decoded as a whole. */
function decodeAscii(text: string): string {
  return text.replaceAll(/%([0-7][0-9a-f])/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
