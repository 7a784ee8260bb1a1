/** Splits a text into words, for lists of short values. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
