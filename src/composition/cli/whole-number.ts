export const HIGHEST_PORT = 65_535;

/** A whole number from 0 to `most`; `undefined` when the text is none. */
export function wholeNumber(text: string, most: number): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number <= most ? number : undefined;
}
