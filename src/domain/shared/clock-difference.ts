/** A `Date` field has whole seconds and network delay; below this difference the clocks agree. */
export const TOLERATED_SKEW_MS = 30_000;

/** The difference of two clocks as part of a sentence; empty if they agree, or if it is unknown. */
export function clockDifference(aheadMs: number, other: string): string {
  if (!(Math.abs(aheadMs) > TOLERATED_SKEW_MS)) return '';
  const seconds = String(Math.round(Math.abs(aheadMs) / 1000));
  return `the local clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}`;
}
