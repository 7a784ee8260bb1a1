/** The candidate that differs from a name in the fewest letters: what its writer most likely meant. */
export function nearest(name: string, candidates: readonly string[]): string {
  let best = candidates[0] ?? '';
  let fewest = Infinity;
  for (const candidate of candidates) {
    const letters = distance(name.toLowerCase(), candidate.toLowerCase());
    if (letters < fewest) {
      fewest = letters;
      best = candidate;
    }
  }
  return best;
}

/** The nearest candidate when no more than a third of the name's letters differ: a far-fetched suggestion misleads. */
export function similar(name: string, candidates: readonly string[]): string | undefined {
  const best = nearest(name, candidates);
  return distance(name.toLowerCase(), best.toLowerCase()) <= Math.ceil(name.length / 3) ? best : undefined;
}

/** Levenshtein distance, one row at a time. */
export function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((next[j - 1] ?? 0) + 1, (row[j] ?? 0) + 1, substituted));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
