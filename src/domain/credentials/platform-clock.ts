import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';

/** What the platform's clock is compared with. */
export interface PlatformClockDependencies {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A `Date` field counts whole seconds and travels; below this the clocks agree. */
const TOLERATED_SKEW_MS = 30_000;
/** A platform further away is not followed: one that names a date decades ahead would be given a token good until then. */
const FOLLOWED_SKEW_MS = 3_600_000;

/** The platform's clock, as far as its refusals tell: tokens signed here must be valid by it. */
export class PlatformClock {
  readonly #deps: PlatformClockDependencies;
  #skewMs = 0;

  constructor({ clock, telemetry }: PlatformClockDependencies) {
    this.#deps = { clock, telemetry };
  }

  /** How far it is ahead of ours, in milliseconds; 0 while the two agree, and when it is too far away to be believed. */
  get aheadMs(): number {
    return Math.abs(this.#skewMs) > FOLLOWED_SKEW_MS ? 0 : this.#skewMs;
  }

  /** Takes note of what it shows now, in milliseconds since the epoch; operators are told when that is news. `NaN` says nothing. */
  compare(platformNow: number): void {
    const skewMs = platformNow - this.#deps.clock.now();
    if (Number.isNaN(skewMs) || Math.abs(skewMs - this.#skewMs) <= TOLERATED_SKEW_MS) return;
    this.#skewMs = Math.abs(skewMs) <= TOLERATED_SKEW_MS ? 0 : skewMs;
    this.#deps.telemetry.emit({ type: 'warning', code: 'clock_skew', detail: detailOf(this.#skewMs) });
  }
}

function detailOf(skewMs: number): string {
  if (skewMs === 0) return "The local clock agrees with the platform's again.";
  const seconds = String(Math.round(Math.abs(skewMs) / 1000));
  return `The local clock is ${seconds} s ${skewMs < 0 ? 'ahead of' : 'behind'} the platform's.`;
}
