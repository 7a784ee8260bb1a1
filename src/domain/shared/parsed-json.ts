/** The value of a JSON text; `undefined` when there is no text, or it is no JSON. */
export function parsedJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
