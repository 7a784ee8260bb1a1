/** An address or a path without the slashes at its end. A pattern would look for the end again from each slash of a run. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x2f) end -= 1;
  return text.slice(0, end);
}
