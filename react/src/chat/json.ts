/** A JSON object from outside, of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value if it is an object; undefined otherwise. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The objects of a list; empty if the value is no list. */
export function objectsOf(values: unknown): readonly JsonObject[] {
  if (!Array.isArray(values)) return [];
  return values.map(objectOf).filter((value) => value !== undefined);
}

/** The value if it is a string; empty otherwise. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
