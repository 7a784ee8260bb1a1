import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../src/adapters/fakes/fakes.js';
import { routeHandler, ROUTES } from '../../src/composition/routes/site-routes.js';
import { configureServer } from '../../src/composition/server.js';
import { serverState } from '../../src/composition/process-state.js';
import type { HttpHandler } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

afterEach(async () => {
  await serverState().toolkit?.close();
  for (const name of ['toolkit', 'config', 'sessions'] as const) delete serverState()[name];
});

const source = (): FakeSessionTokenSource =>
  new FakeSessionTokenSource({ kind: 'token', accessToken: 'token', subject: '1', tenant: 't' });
const route = (auth: FakeSessionTokenSource): HttpHandler =>
  routeHandler(ROUTES.surfaces, 'createServiceSurfaceRouter', { auth, cache: { enabled: true } });

async function rendered(handler: HttpHandler): Promise<unknown> {
  const { status, headers } = await handler(browserRequest({ path: '/counter/render', body: null }));
  return status === 200 ? headers['x-cache'] : status;
}

async function withPlatform(work: (serviceApiUrl: string) => Promise<void>): Promise<void> {
  const platform = await RecordingUpstream.start();
  platform.willAnswer((exchange) => {
    exchange.json(200, {});
  });
  try {
    await work(`${platform.origin}/api`);
  } finally {
    await platform.close();
  }
}

describe('routes of the toolkit made by configureServer', () => {
  it('with two unnamed session sources cache nothing, even when one route was never visited', async () => {
    await withPlatform(async (serviceApiUrl) => {
      const [first] = [route(source()), route(source())];
      configureServer({ serviceApiUrl, serviceApiKey: 'key', telemetry: 'silent' });
      expect(await rendered(first)).toBe('BYPASS');
      configureServer({ serviceProjectId: 'project-2' });
      expect(await rendered(first)).toBe('BYPASS');
    });
  });

  it('with one session source keep cached renders after a secret rotation, and drop them for another principal', async () => {
    await withPlatform(async (serviceApiUrl) => {
      const staff = source();
      const [first, second] = [route(staff), route(staff)];
      configureServer({ serviceApiUrl, serviceApiKey: 'key', telemetry: 'silent' });
      expect([await rendered(first), await rendered(second)]).toEqual(['MISS', 'HIT']);
      configureServer({ idpA: { clientSecret: 'rotated' }, cacheKeys: [randomBytes(32).toString('hex')] });
      expect(await rendered(first)).toBe('HIT');
      configureServer({ serviceApiKey: 'the-key-of-another-tenant' });
      expect(await rendered(first)).toBe('MISS');
    });
  });
});
