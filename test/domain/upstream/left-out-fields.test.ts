import { describe, expect, it } from 'vitest';
import { RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { leftOutReporter } from '../../../src/domain/upstream/browser-fields.js';

describe('a field of the platform that is not forwarded', () => {
  it('is in the log once, by its name', () => {
    const telemetry = new RecordingTelemetry();
    const leftOut = leftOutReporter(telemetry);
    for (let request = 0; request < 3; request += 1) {
      leftOut(['etag (characters other than printable ASCII)', 'vary (too long)']);
    }
    leftOut(['etag (sent several times; the first is used)']);
    expect(telemetry.of('warning').map(({ code, detail }) => [code, detail])).toEqual([
      [
        'field_left_out',
        'The platform sent response fields that were left out: etag (characters other than printable ASCII), vary (too long).',
      ],
      [
        'field_left_out',
        'The platform sent response fields that were left out: etag (sent several times; the first is used).',
      ],
    ]);
  });

  it('is in the log for a hundred names at most', () => {
    const telemetry = new RecordingTelemetry();
    const leftOut = leftOutReporter(telemetry);
    for (let at = 0; at < 1_000; at += 1) leftOut([`x-${String(at)} (too long)`]);
    expect(telemetry.of('warning')).toHaveLength(100);
  });
});
