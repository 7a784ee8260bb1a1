export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/**
 * Median, minimum and spread of the rounds. The spread is the highest minus the lowest round, divided by the median.
 * From five rounds on the lowest and the highest do not count, so that one disturbed round does not void a run.
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

/** Two-sided 97.5 % quantiles of Student's t, by degrees of freedom; beyond the table the normal quantile is close enough. */
const STUDENT = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1,
];

/** The geometric mean of independent ratios, with its 95 % interval. */
export function ratioOf(ratios) {
  const logs = ratios.map(Math.log);
  const count = logs.length;
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1);
  const reach = (STUDENT[count - 2] ?? 2) * Math.sqrt(variance / count);
  return { mean: Math.exp(mean), low: Math.exp(mean - reach), high: Math.exp(mean + reach) };
}
