import { describe, expect, it } from 'vitest';
import { FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { sessionSurfaceRoute } from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = {
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'key-of-this-site',
};

describe('the option "cache.maxEntries"', () => {
  it.each([
    [{ enabled: true, maxEntries: 500 }, ['option_deprecated']],
    [{ enabled: true }, []],
  ])('is reported as one without effect (%j: %j)', (cache, codes) => {
    const telemetry = new RecordingTelemetry();
    const toolkit = createToolkit(CONFIG, { telemetry, upstream: new FakeUpstream() });
    sessionSurfaceRoute(toolkit, { cache });
    expect(telemetry.of('warning').map(({ code }) => code)).toEqual(codes);
  });
});
