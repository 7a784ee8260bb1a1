const REDACTED = '[redacted]';
/** Shorter values would make every other word of a log unreadable, and are no secrets. */
const MIN_SECRET = 6;
/** The ids that support asks for stand at the end of a long text. */
const MAX_TEXT = 2_048;

/** Anything that looks like a JWT, signed or encrypted. */
const JWT = /\beyJ[\w-]{8,}(?:\.[\w-]*){2,4}/giu;
/** The text after `Bearer` or `Basic`. */
const CREDENTIAL = /\b(bearer|basic)(\s+)[\w.~+/=-]{8,}/giu;
/** A private key, also when its lines were joined. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu;

/** Characters that every spelling leaves as they are. */
const PLAIN = /[\w.-]+/g;
/** Entities with a name, by character. */
const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
};

/**
 * Makes text fit for a log; `secrets` go in every spelling that forms, addresses, JSON and pages give them.
 * What is made takes out further secrets, those of one request.
 */
export function redactor(secrets: readonly string[]): (text: string, further?: readonly string[]) => string {
  const configured = hidden(secrets);
  return (text, further = []) => {
    const clean = withoutSecrets(without(text, configured), further);
    return visibleLine(clean).slice(0, MAX_TEXT);
  };
}

/** The text without tokens, keys and these secrets, in the same spellings. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // First, since a visitor chooses cookies: one like the word before a token must not uncover it.
  const clean = text.replace(PRIVATE_KEY, REDACTED).replace(JWT, REDACTED).replace(CREDENTIAL, `$1$2${REDACTED}`);
  return without(clean, hidden(secrets));
}

/** A secret, and what a text has to hold to hold it in any spelling. A request may hold thousands, of which a text holds none or one. */
interface Hidden {
  readonly secret: string;
  readonly core: string;
}

function hidden(secrets: readonly string[]): readonly Hidden[] {
  return (
    secrets
      .filter((secret) => secret.length >= MIN_SECRET)
      .map((secret) => ({ secret, core: (secret.match(PLAIN) ?? ['']).reduce(longer) }))
      // Longest first: one secret may be the beginning of another.
      .sort((one, other) => other.secret.length - one.secret.length)
  );
}

function longer(one: string, other: string): string {
  return other.length > one.length ? other : one;
}

function without(text: string, secrets: readonly Hidden[]): string {
  let clean = text;
  for (const { secret, core } of secrets) {
    if (!clean.includes(core)) continue;
    clean = secret === core ? clean.replaceAll(secret, REDACTED) : clean.replace(spelled(secret), REDACTED);
  }
  return clean;
}

/** A secret in every spelling, also one that changes from character to character. */
function spelled(secret: string): RegExp {
  const characters = Array.from(secret, (character) => {
    const spellings = spellingsOf(character).map((spelling) => spelling.replace(/[^\w]/gu, String.raw`\$&`));
    return spellings.length === 1 ? String(spellings[0]) : `(?:${spellings.join('|')})`;
  });
  return new RegExp(characters.join(''), 'g');
}

function spellingsOf(character: string): readonly string[] {
  // Half a character has no other spelling, and throws.
  if (/^[\w.-]$|\p{Surrogate}/u.test(character)) return [character];
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

/** Line ends, those that only some log readers know too (CWE-117), and tabs. */
const LINE_ENDS = /[\t-\r\u0085\u2028\u2029]+/gu;
/** Characters that a terminal obeys, or that reorder the text around them (CVE-2021-42574). */
const UNSEEN = /[\p{Cc}\p{Bidi_Control}]/gu;

/** The text on one line, on which everything can be seen: control and bidirectional characters become escapes such as `\u202e`. */
export function visibleLine(text: string): string {
  return text.replace(LINE_ENDS, ' ').replace(UNSEEN, (unseen) => {
    const code = unseen.charCodeAt(0).toString(16).padStart(4, '0');
    return String.raw`\u${code}`;
  });
}
