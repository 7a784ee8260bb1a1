const REDACTED = '[redacted]';

/**
 * Makes a provider's text fit for a log: known secrets and anything that looks like a JWT are replaced,
 * also in the spellings of forms, addresses and JSON; line breaks go, and so does what is beyond `longest` characters.
 */
export function redactSecrets(text: string, secrets: readonly string[], longest: number): string {
  let clean = text;
  const spellings = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
    ]);
  // Longest first: one secret may be the beginning of another.
  for (const spelling of spellings.sort((a, b) => b.length - a.length)) clean = clean.replaceAll(spelling, REDACTED);
  return clean
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, REDACTED)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, longest);
}
