/** The cookies of a `cookie` field as sent, each `name=value`, in their order (RFC 6265 §5.4). Some may be empty. */
export function cookiePairs(field: string | readonly string[] | undefined): readonly string[] {
  return String(Array.isArray(field) ? field.join(';') : (field ?? ''))
    .split(';')
    .map((pair) => pair.trim());
}

/** Name and value of one cookie; empty strings if the pair has no `=`. */
export function cookiePair(pair: string): [name: string, value: string] {
  const [name = '', ...value] = pair.split('=');
  return [name.trim(), value.join('=').trim()];
}
