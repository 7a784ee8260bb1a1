/** The value below which this part of a list lies. */
export function quantile(list, part) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const low = sorted[Math.floor(at)];
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at));
}

export function median(list) {
  return quantile(list, 0.5);
}

/**
 * Median, minimum and spread of the rounds. The spread is what lies between the rounds as a part of the median;
 * from five rounds on the lowest and the highest do not count, so that one disturbed round does not void a run.
 */
export function summary(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const inner = sorted.length >= 5 ? sorted.slice(1, -1) : sorted;
  const middle = median(sorted);
  return {
    median: middle,
    minimum: sorted[0],
    spread: middle === 0 ? 0 : (inner.at(-1) - inner[0]) / middle,
    rounds: samples,
  };
}
