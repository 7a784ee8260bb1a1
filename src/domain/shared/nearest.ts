/** The candidate that differs from a name in the fewest letters: what its writer most likely meant. */
export function nearest(name: string, candidates: readonly string[]): string {
  return candidates.reduce((best, one) => (unlike(name, one) < unlike(name, best) ? one : best), candidates[0] ?? '');
}

/** The nearest candidate when no more than a third of the name's letters differ: a far-fetched suggestion misleads. */
export function similar(name: string, candidates: readonly string[]): string | undefined {
  const best = nearest(name, candidates);
  return unlike(name, best) <= Math.ceil(name.length / 3) ? best : undefined;
}

function unlike(name: string, candidate: string): number {
  return distance(name.toLowerCase(), candidate.toLowerCase());
}

/** Levenshtein distance, one row at a time. */
export function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const letter of from) {
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
