import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';

/**
 * Keeps every event.
 *
 * @public
 */
export class RecordingTelemetry implements Telemetry {
  /** Every event so far, oldest first. */
  readonly events: TelemetryEvent[] = [];

  /** Keeps the event. */
  emit(event: TelemetryEvent): void {
    this.events.push(event);
  }

  /** The events of one type, oldest first. */
  of<Type extends TelemetryEvent['type']>(type: Type): Extract<TelemetryEvent, { type: Type }>[] {
    return this.events.filter((event): event is Extract<TelemetryEvent, { type: Type }> => event.type === type);
  }
}
