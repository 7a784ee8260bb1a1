import { describe, expect, it } from 'vitest';
import type { Telemetry, TelemetryEvent } from '../../src/ports/telemetry.js';

/** One event of each type. */
const EVENTS: readonly TelemetryEvent[] = [
  { type: 'request', requestId: 'r', route: 'chat', method: 'POST', status: 200, durationMs: 1 },
  {
    type: 'error',
    requestId: 'r',
    route: 'chat',
    status: 502,
    code: 'upstream_unreachable',
    summary: 'The agent cannot be reached.',
    detail: 'ECONNREFUSED',
  },
  { type: 'token', outcome: 'acquired', block: 'serviceAccount', durationMs: 1 },
  { type: 'stream_broken', route: 'chat', side: 'upstream', detail: 'reset' },
  { type: 'stream_ended', requestId: 'r', route: 'chat', outcome: 'complete', durationMs: 5 },
  {
    type: 'chat',
    requestId: 'r',
    route: 'chat',
    method: 'SendMessage',
    outcome: 'complete',
    durationMs: 5,
    events: 0,
    bytes: 9,
  },
  { type: 'retry', method: 'GET', cause: 'stale_connection', detail: 'reset' },
  { type: 'cache_fault', operation: 'get', detail: 'down' },
  { type: 'warning', code: 'w', detail: 'd' },
];

/** The contract of every `Telemetry`, including the fakes. */
export function telemetryContract(name: string, make: () => Telemetry): void {
  describe(`${name} as a telemetry`, () => {
    it.each(EVENTS)('accepts a $type event synchronously without throwing', (event) => {
      const frozen = Object.freeze({ ...event });
      expect(make().emit(frozen)).toBeUndefined();
    });
  });
}
