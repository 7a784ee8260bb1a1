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
 * Median, minimum and spread of the rounds. The spread is the distance between the quartiles as a part of the median:
 * how far the usual round lies from another usual one, however many there are.
 */
export function summary(samples) {
  const middle = median(samples);
  return {
    median: middle,
    minimum: Math.min(...samples),
    spread: middle === 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle,
    rounds: samples.length,
  };
}
