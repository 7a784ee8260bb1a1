import type { Telemetry } from '../../ports/telemetry.js';

/** Nobody listens. */
export const silentTelemetry: Telemetry = { emit: () => undefined };
