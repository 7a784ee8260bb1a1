import type { Telemetry } from '../../ports/telemetry.js';

/** The details that each toolkit has reported. */
const reported = new WeakMap<Telemetry, Set<string>>();

/** Reports a warning once for each toolkit. Its detail must not depend on a visitor. */
export function warnOnce(telemetry: Telemetry, code: string, detail: string): void {
  const details = reported.get(telemetry) ?? new Set();
  if (!details.has(detail)) telemetry.emit({ type: 'warning', code, detail });
  reported.set(telemetry, details.add(detail));
}
