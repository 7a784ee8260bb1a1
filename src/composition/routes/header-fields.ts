/**
 * Header fields as the site makes them: an object, a `Headers`, or a list of pairs of name and value. A list of values is sent as one,
 * a field that is `undefined` or `null` is left out, and nothing at all means no fields.
 *
 * @public
 */
export type HeadersLike =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | readonly (readonly string[])[]
  | null
  | undefined;

/**
 * Makes header fields for calls to the platform, from the framework's request (spec §4.2).
 * As `getHeaders` and `configGetHeaders` they are the credential: an error of this package it throws is answered as such; any other becomes a 401 whose text stays in the server's log.
 *
 * @public
 */
export type GetHeaders = (request: never) => HeadersLike | Promise<HeadersLike>;

/**
 * The fields by lower-case name.
 *
 * @throws Error when it is nothing header fields can be made of; the text never quotes a value.
 */
export function headerFields(made: HeadersLike): Record<string, string> {
  const headers = new Headers();
  for (const [name, value] of pairs(made)) {
    for (const text of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (text === undefined || text === null) continue;
      // Of anything else, such as a promise nobody awaited, all requests would carry the same "[object …]".
      if (!['string', 'number', 'boolean'].includes(typeof text)) throw new Error('it gave a value that is not text');
      append(headers, String(name), String(text as string));
    }
  }
  return Object.fromEntries(headers);
}

function pairs(made: unknown): readonly (readonly [unknown, unknown])[] {
  if (made === undefined || made === null) return [];
  if (typeof made !== 'object') throw new Error('it gave no header fields');
  // Whatever lists pairs: a `Headers` of another realm or library, an array, a `Map`.
  if (!(Symbol.iterator in made)) return Object.entries(made);
  const listed = [...(made as Iterable<unknown>)];
  if (listed.every((pair) => Array.isArray(pair) && pair.length === 2)) return listed as [unknown, unknown][];
  throw new Error('it gave a list that does not consist of pairs of name and value');
}

function append(headers: Headers, name: string, text: string): void {
  try {
    headers.append(name, text);
  } catch {
    // The error's own message quotes the value.
    throw new Error('it gave a name or a value that no header field may have');
  }
}
