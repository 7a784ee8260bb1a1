/** Tells where a part ends, by its length or by its brackets: two lists of parts never make one text. */
export function delimited(part: unknown): string {
  if (typeof part === 'string') return `${part.length.toString()} ${part}`;
  return part === null ? 'null' : JSON.stringify(part);
}
