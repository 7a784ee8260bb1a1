import { failed, type Finding, passed, warning } from './finding.js';

const TOLERATED_SKEW_MS = 30_000;
const PLACE = { block: 'machine', fields: ['clock'] };
const FIX = 'Set the clock of this machine, by NTP for instance.';

/** Compares the local clock with another one, which it is ahead of by so many milliseconds. */
export function clocks(check: string, aheadMs: number, other: string): Finding {
  if (Math.abs(aheadMs) <= TOLERATED_SKEW_MS) return passed(check, `agrees with ${other}`);
  const seconds = String(Math.round(Math.abs(aheadMs) / 1_000));
  const message = `the local clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${other}: tokens may be refused`;
  return warning(check, message, PLACE, FIX);
}

/** Something that cannot be unless the local clock is wrong. */
export function clockProblem(check: string, message: string): Finding {
  return failed(check, message, PLACE, FIX);
}
