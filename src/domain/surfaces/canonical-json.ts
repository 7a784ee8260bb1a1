/** Matches a string, one sign of the structure, or a number or literal. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s"\\[\]{}:,]+/g;

/**
 * A canonical form of a JSON text, independent of blanks, escapes and the order of fields. `undefined` if an object has
 * a field twice, even in different case, because two parsers may pick different ones. Texts with the same form mean the
 * same to every parser.
 *
 * The text must be valid JSON. Takes linear time, and a few nested calls per level.
 *
 * @throws SyntaxError when the text ends too early.
 */
export function canonicalJson(text: string): string | undefined {
  const tokens = text.match(TOKEN) ?? [];
  let position = 0;
  let hasTwins = false;

  const next = (): string => {
    const token = tokens[position];
    if (token === undefined) throw new SyntaxError('The JSON text ends before its value.');
    position += 1;
    // Numbers stay as they are: parsing `9007199254740993` would lose a digit, and `-0` its sign.
    return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
  };
  /** The items of an object or a list, each by its first token. */
  const items = (end: string, read: (first: string) => string): string[] => {
    const found: string[] = [];
    for (let token = next(); token !== end; token = next()) found.push(read(token === ',' ? next() : token));
    return found;
  };
  const value = (token: string): string => {
    if (token === '[') return `[${items(']', value).join(',')}]`;
    if (token !== '{') return token;
    const names = new Set<string>();
    const members = items('}', (name) => {
      // By way of upper case, like Go's encoding/json: `ſ` becomes `s`.
      const folded = name.toUpperCase().toLowerCase();
      hasTwins ||= names.has(folded);
      names.add(folded);
      // After the colon.
      next();
      return `${name}:${value(next())}`;
    });
    return `{${members.sort().join(',')}}`;
  };

  const spelling = value(next());
  return hasTwins ? undefined : spelling;
}
