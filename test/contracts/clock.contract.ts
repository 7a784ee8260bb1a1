import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/ports/clock.js';

/** The contract of every `Clock`, including the fakes. */
export function clockContract(name: string, make: () => Clock): void {
  describe(`${name} as a clock`, () => {
    it('returns whole milliseconds since the epoch', () => {
      const now = make().now();
      expect(Number.isInteger(now)).toBe(true);
      expect(now).toBeGreaterThan(Date.UTC(2025, 0, 1));
      expect(now).toBeLessThan(Date.UTC(2100, 0, 1));
    });

    it('never runs backwards', () => {
      const clock = make();
      const times = Array.from({ length: 100 }, () => clock.now());
      expect(times).toEqual(times.toSorted((one, other) => one - other));
    });
  });
}
