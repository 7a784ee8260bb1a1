const REDACTED = '[redacted]';
/** Shorter values would make every other word of a log unreadable, and are no secrets. */
const SHORTEST_SECRET = 6;
/** The ids that support asks for stand at the end of a long text. */
const LONGEST_TEXT = 2000;

/** Anything that looks like a JWT, and what follows `Bearer` or `Basic`. */
const TOKEN = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?<=\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/giu;
/** A private key, also when its lines were joined. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu;
/** Control characters, and the line ends some log readers know besides (CWE-117). */
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;

/**
 * Makes text fit for a log; `secrets` go in every spelling that forms, addresses and JSON give them.
 * What is made takes out further secrets, those of one request.
 */
export function redactor(secrets: readonly string[]): (text: string, further?: readonly string[]) => string {
  const spellings = spellingsOf(secrets);
  return (text, further = []) => {
    const clean = withoutSecrets(without(text, spellings), further);
    return clean.replace(CONTROL, ' ').slice(0, LONGEST_TEXT);
  };
}

/** The text without tokens, keys and these secrets, in the same spellings. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // First, since a visitor chooses cookies: one like the word before a token must not uncover it.
  const clean = text.replace(PRIVATE_KEY, REDACTED).replace(TOKEN, REDACTED);
  // A request may hold thousands, and few texts hold what another spelling is made of.
  const isSpelled = /[%+\\]/.test(clean);
  return without(clean, spellingsOf(isSpelled ? secrets : secrets.filter((secret) => clean.includes(secret))));
}

function without(text: string, spellings: readonly string[]): string {
  let clean = text;
  for (const spelling of spellings) clean = clean.replaceAll(spelling, REDACTED);
  return clean;
}

function spellingsOf(secrets: readonly string[]): readonly string[] {
  return (
    secrets
      .filter((secret) => secret.length >= SHORTEST_SECRET)
      .flatMap((secret) => [
        secret,
        // Half a character is no text, and throws.
        encodeURIComponent(secret.replaceAll(/\p{Surrogate}/gu, '')),
        new URLSearchParams([['', secret]]).toString().slice(1),
        JSON.stringify(secret).slice(1, -1),
      ])
      // Longest first: one secret may be the beginning of another.
      .sort((one, other) => other.length - one.length)
  );
}
