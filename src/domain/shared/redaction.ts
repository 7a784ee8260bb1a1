import { uriDecoded } from './bytes.js';
import { REDACTED } from './secret.js';

/** Shorter values are not secrets, and would replace every other word of a log. */
const MIN_SECRET = 6;
/** Long enough to include the request ids that platforms put at the end of a text. */
const MAX_TEXT = 2_048;
/** Characters of a text that are read, since each secret of a request is looked for in them. */
const MAX_READ = 16_384;

/** Matches runs of characters that can contain a token. */
const RUN = /[\w.-]+/g;
/** Matches the start of a JWT, signed or encrypted. */
const JWT = /\beyJ[\w-]{8}/i;
/** Parts that can follow the first one of a JWT. */
const MIN_PARTS = 2;
const MAX_PARTS = 4;
/** Matches the text after `Bearer` or `Basic`. */
const CREDENTIAL = /\b(bearer|basic)(\s+)[\w.~+/=-]{8,}/giu;
/** Matches a private key, even if its lines were joined. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu;

/**
 * Creates a function that makes text safe for a log: `secrets` are replaced, in every encoding used by forms, URLs,
 * JSON and pages, also one inside another. The function accepts additional secrets, those of one request.
 */
export function redactor(secrets: readonly string[]): (text: string, further?: readonly string[]) => string {
  const configured = hidden(secrets);
  return (text, further = []) => {
    const clean = withoutSecrets(without(beginning(text), configured), further);
    return visibleLine(clean).slice(0, MAX_TEXT);
  };
}

/** The text without tokens, keys and these secrets, in all those encodings. A long text is cut. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // First, because visitors choose cookies: a cookie equal to the word before a token must not uncover the token.
  const clean = beginning(text)
    .replace(PRIVATE_KEY, REDACTED)
    .replace(RUN, withoutTokens)
    .replace(CREDENTIAL, `$1$2${REDACTED}`);
  return without(clean, hidden(secrets));
}

/** The part that is read, without its last word: that may be the first half of a secret. */
function beginning(text: string): string {
  if (text.length <= MAX_READ) return text;
  let end = MAX_READ;
  while (end > 0 && !/[\s"<>,]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Splits the run, because the time of one pattern for a whole token grows with the square of the length. */
function withoutTokens(run: string): string {
  const parts = run.split('.');
  const clean: string[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    const start = parts.length - index > MIN_PARTS ? part.search(JWT) : -1;
    clean.push(start < 0 ? part : part.slice(0, start) + REDACTED);
    if (start >= 0) index += MAX_PARTS;
  }
  return clean.join('.');
}

/** A secret as written, and without its encodings. */
interface Hidden {
  readonly written: string;
  readonly plain: string;
}

function hidden(secrets: readonly string[]): readonly Hidden[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET)
    .map((written) => ({ written, plain: written.search(ENCODED) < 0 ? written : readingOf(written).text }));
}

/** Replaces secrets, both as written and encoded. */
function without(text: string, secrets: readonly Hidden[]): string {
  if (secrets.length === 0) return text;
  const isHidden = new Uint8Array(text.length);
  const { text: read, starts, ends } = readingOf(text);
  for (const { written, plain } of secrets) {
    for (let at = text.indexOf(written); at >= 0; at = text.indexOf(written, at + written.length)) {
      isHidden.fill(1, at, at + written.length);
    }
    if (plain.length < MIN_SECRET || (plain === written && read === text)) continue;
    for (let at = read.indexOf(plain); at >= 0; at = read.indexOf(plain, at + plain.length)) {
      isHidden.fill(1, starts[at], ends[at + plain.length - 1]);
    }
  }
  let clean = '';
  for (let at = 0; at < text.length;) {
    const isSecret = isHidden[at];
    const found = isHidden.indexOf(isSecret === 1 ? 0 : 1, at);
    const end = found < 0 ? text.length : found;
    clean += isSecret === 1 ? REDACTED : text.slice(at, end);
    at = end;
  }
  return clean;
}

/** A decoded text, and the position of each of its characters in the original. */
interface Reading {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Maximum number of nested encodings; the white space that one leaves counts as another. */
const MAX_LAYERS = 6;
const PERCENT =
  '%[0-7][\\da-f]|%[cd][\\da-f]%[89ab][\\da-f]|%e[\\da-f](?:%[89ab][\\da-f]){2}|%f[0-7](?:%[89ab][\\da-f]){3}';
const ESCAPE = String.raw`\\u[\da-f]{4}|\\x[\da-f]{2}|\\[bfnrt]?`;
const ENTITY = String.raw`&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);`;
/** White space and invisible characters, which forms, folded lines and UTF-16 add, and lone surrogates. */
const ADDED = String.raw`[\s+\p{Cc}\p{Cf}\p{Cs}]`;
const ENCODED = new RegExp(`${PERCENT}|${ESCAPE}|${ENTITY}|${ADDED}`, 'giu');

function readingOf(text: string): Reading {
  let reading: Reading = {
    text,
    starts: Array.from({ length: text.length }, (_, at) => at),
    ends: Array.from({ length: text.length }, (_, at) => at + 1),
  };
  for (let layer = 0; layer < MAX_LAYERS; layer += 1) {
    const decoded = withoutLayer(reading);
    if (decoded === reading) break;
    reading = decoded;
  }
  return reading;
}

function withoutLayer(reading: Reading): Reading {
  const { text, starts, ends } = reading;
  const found = [...text.matchAll(ENCODED)];
  if (found.length === 0) return reading;
  const decoded = { text: '', starts: [] as number[], ends: [] as number[] };
  let at = 0;
  const keepUntil = (end: number): void => {
    decoded.text += text.slice(at, end);
    for (; at < end; at += 1) {
      decoded.starts.push(starts[at] ?? 0);
      decoded.ends.push(ends[at] ?? 0);
    }
  };
  for (const { 0: code, index } of found) {
    keepUntil(index);
    const plain = plainOf(code);
    decoded.text += plain;
    for (let unit = 0; unit < plain.length; unit += 1) {
      decoded.starts.push(starts[index] ?? 0);
      decoded.ends.push(ends[index + code.length - 1] ?? 0);
    }
    at = index + code.length;
  }
  keepUntil(text.length);
  return decoded;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const BROKEN = '\ufffd';

function plainOf(code: string): string {
  if (code.startsWith('%')) return uriDecoded(code) ?? BROKEN;
  if (/^\\[ux]/i.test(code)) return String.fromCharCode(Number.parseInt(code.slice(2), 16));
  const entity = /^&(?:#(x?)([\da-f]+)|(\w+));$/i.exec(code);
  if (entity === null) return /\p{Cs}/u.test(code) ? BROKEN : '';
  const [, hex = '', digits = '', name = ''] = entity;
  if (name !== '') return ENTITIES[name.toLowerCase()] ?? '';
  const point = Number.parseInt(digits, hex === '' ? 10 : 16);
  return point > 0x10_ffff ? BROKEN : String.fromCodePoint(point);
}

/** Line ends, including those that only some log viewers treat as such (CWE-117), and tabs. */
const LINE_ENDS = /[\t-\r\u0085\u2028\u2029]+/gu;
/** Characters that control a terminal, or reorder the text around them (CVE-2021-42574). */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu;

/** The text on one line with everything visible: control and bidirectional characters become escapes such as `\u202e`. */
export function visibleLine(text: string): string {
  return text.replace(LINE_ENDS, ' ').replace(UNSEEN, (unseen) => {
    const code = unseen.charCodeAt(0).toString(16).padStart(4, '0');
    return String.raw`\u${code}`;
  });
}
