import { REDACTED } from './secret.js';

/** Shorter values are not secrets, and would replace every other word of a log. */
const MIN_SECRET = 6;
/** Long enough to include the request ids that platforms put at the end of a text. */
const MAX_TEXT = 2_048;

/** Matches a JWT, signed or encrypted. */
const JWT = /\beyJ[\w-]{8,}(?:\.[\w-]*){2,4}/giu;
/** Matches the text after `Bearer` or `Basic`. */
const CREDENTIAL = /\b(bearer|basic)(\s+)[\w.~+/=-]{8,}/giu;
/** Matches a private key, even if its lines were joined. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu;

/** Characters that are the same in every encoding. */
const PLAIN = /[\w.-]+/g;
/** Named entities, by character. */
const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
};

/**
 * Creates a function that makes text safe for a log: `secrets` are replaced, in every encoding used by forms, URLs,
 * JSON and pages. The function accepts additional secrets, those of one request.
 */
export function redactor(secrets: readonly string[]): (text: string, further?: readonly string[]) => string {
  const configured = hidden(secrets);
  return (text, further = []) => {
    const clean = withoutSecrets(without(text, configured), further);
    return visibleLine(clean).slice(0, MAX_TEXT);
  };
}

/** The text without tokens, keys and these secrets, in all those encodings. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // First, because visitors choose cookies: a cookie equal to the word before a token must not uncover the token.
  const clean = text.replace(PRIVATE_KEY, REDACTED).replace(JWT, REDACTED).replace(CREDENTIAL, `$1$2${REDACTED}`);
  return without(clean, hidden(secrets));
}

/**
 * A secret, and the characters a text must contain to contain the secret in any encoding. A request may have thousands
 * of secrets, of which a text rarely contains more than one.
 */
interface Hidden {
  readonly secret: string;
  readonly core: string;
}

function hidden(secrets: readonly string[]): readonly Hidden[] {
  return (
    secrets
      .filter((secret) => secret.length >= MIN_SECRET)
      .map((secret) => ({
        secret,
        core: (secret.match(PLAIN) ?? ['']).reduce((one, other) => (other.length > one.length ? other : one)),
      }))
      // Longest first: one secret may be the beginning of another.
      .sort((one, other) => other.secret.length - one.secret.length)
  );
}

function without(text: string, secrets: readonly Hidden[]): string {
  let clean = text;
  for (const { secret, core } of secrets) {
    if (!clean.includes(core)) continue;
    clean = secret === core ? clean.replaceAll(secret, REDACTED) : clean.replace(spelled(secret), REDACTED);
  }
  return clean;
}

/** Matches a secret in every encoding, even if the encoding changes from character to character. */
function spelled(secret: string): RegExp {
  const characters = Array.from(secret, (character) => {
    const spellings = spellingsOf(character).map((spelling) => spelling.replace(/[^\w]/gu, String.raw`\$&`));
    return spellings.length === 1 ? String(spellings[0]) : `(?:${spellings.join('|')})`;
  });
  return new RegExp(characters.join(''), 'g');
}

function spellingsOf(character: string): readonly string[] {
  if (/[\w.-]/.test(character)) return [character];
  const code = character.codePointAt(0) ?? 0;
  const bytes = [...new TextEncoder().encode(character)].map((byte) => `%${hex(byte, 2)}`).join('');
  const inJson = Array.from({ length: character.length }, (_, at) => String.raw`\u${hex(character.charCodeAt(at), 4)}`);
  const coded = [bytes, inJson.join(''), `&#x${hex(code, 2)};`];
  return [
    character,
    ...coded,
    ...coded.map((spelling) => spelling.replace(/[A-F]/g, (digit) => digit.toLowerCase())),
    `&#${String(code)};`,
    JSON.stringify(character).slice(1, -1),
    ...(character === ' ' ? ['+'] : []),
    ...(ENTITIES[character] ?? []),
  ];
}

function hex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, '0');
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
