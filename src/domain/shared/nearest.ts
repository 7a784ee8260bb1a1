/** The candidate with the fewest letters changed: most likely the intended name. */
export function nearest(name: string, candidates: readonly string[]): string {
  return candidates.toSorted((one, other) => distance(name, one) - distance(name, other))[0] ?? '';
}

/** The nearest candidate, if at most a third of the letters differ: a far-fetched suggestion misleads. */
export function similar(name: string, candidates: readonly string[]): string | undefined {
  const best = nearest(name, candidates);
  return distance(name, best) <= Math.ceil(name.length / 3) ? best : undefined;
}

/** The hint for an unknown name; `undefined` if the name is known. */
export function nameHint(name: unknown, known: readonly string[]): string | undefined {
  if (known.includes(name as string)) return undefined;
  const near = typeof name === 'string' ? similar(name, known) : undefined;
  return `${near === undefined ? '' : `Did you mean "${near}"? `}Known values: ${known.join(', ')}.`;
}

/** Levenshtein distance, ignoring case, one row at a time. */
export function distance(from: string, target: string): number {
  const to = target.toLowerCase();
  let row = [...Array(to.length + 1).keys()];
  for (const letter of from.toLowerCase()) {
    let left = Infinity;
    let before = Infinity;
    row = row.map((above, index) => {
      left = Math.min(left, above, before - Number(to[index - 1] === letter)) + 1;
      before = above;
      return left;
    });
  }
  return row[to.length] ?? 0;
}
