/** The words of a text: a list of short values, several on a line. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
