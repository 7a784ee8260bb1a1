import type { Telemetry } from '../../ports/telemetry.js';

/** The codes that each toolkit has reported. */
const reported = new WeakMap<Telemetry, Set<string>>();

/** Reports a warning once for each toolkit. */
export function warnOnce(telemetry: Telemetry, code: string, detail: string): void {
  const codes = reported.get(telemetry) ?? new Set();
  if (!codes.has(code)) telemetry.emit({ type: 'warning', code, detail });
  reported.set(telemetry, codes.add(code));
}
