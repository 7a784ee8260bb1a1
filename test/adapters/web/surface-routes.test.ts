import { describe, expect, it } from 'vitest';
import { surfaceRoutes, type SurfaceRoutes } from '../../../src/adapters/web/surface-routes.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../../src/ports/http.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { ADA, bodyOf, SurfaceWorld } from '../../domain/surfaces/surface-world.js';
import { browserRequest, bytes, site, streamed } from './browser-request.js';

interface Site {
  readonly world: SurfaceWorld;
  readonly settings: ReturnType<typeof site>;
  readonly handle: HttpHandler;
}

function start(changes: Partial<SurfaceRoutes> = {}): Site {
  const world = new SurfaceWorld();
  const settings = site();
  const routes = { site: settings, service: world.service, auth: SERVICE, cache: world.cache, ...changes };
  return { world, settings, handle: surfaceRoutes(routes) };
}

function visit(changes: Partial<HttpRequest> = {}): HttpRequest {
  return browserRequest({ path: '/counter/render', body: null, headers: { host: 'site.example' }, ...changes });
}

const JSON_TYPE = { 'content-type': 'application/json', host: 'site.example' };

async function problem(response: HttpResponse): Promise<unknown> {
  expect(response.headers['content-type']).toBe('application/problem+json');
  return JSON.parse(await bodyOf(response));
}

describe('the surface routes', () => {
  it('render, act and return the theme, with one event per request', async () => {
    const { world, settings, handle } = start();
    expect((await handle(visit())).headers['x-cache']).toBe('MISS');
    expect((await handle(visit())).headers['x-cache']).toBe('HIT');
    expect(
      (await handle(visit({ path: '/counter/actions/add', headers: JSON_TYPE, body: bytes('{"by":1}') }))).status,
    ).toBe(200);
    expect((await handle(visit())).headers['x-cache']).toBe('MISS');
    expect(await bodyOf(await handle(visit({ method: 'GET', path: '/by-name/Counter/theme.css' })))).toBe(':root{}');
    expect(world.platform.calls).toEqual({ render: 2, check: 0, action: 1, theme: 1 });
    const cached = { type: 'cache', route: 'surface' };
    expect(settings.telemetry.of('cache')).toEqual(['miss', 'hit', 'miss'].map((outcome) => ({ ...cached, outcome })));
    expect(settings.bodies.heldBytes).toBe(0);
    expect(
      settings.telemetry
        .of('request')
        .map(({ requestId, route, method, status }) => [requestId, route, method, status]),
    ).toEqual([
      ['req-1', 'surface', 'POST', 200],
      ['req-2', 'surface', 'POST', 200],
      ['req-3', 'surface', 'POST', 200],
      ['req-4', 'surface', 'POST', 200],
      ['req-5', 'surface', 'GET', 200],
    ]);
  });

  it.each([{ path: '/counter' }, { path: '/counter/x/render' }, { query: '?a=1#x' }])(
    'return 404 for an address that is none of theirs: %j',
    async (changes) => {
      const { world, handle } = start();
      expect((await handle(visit(changes))).status).toBe(404);
      expect(world.upstream.requests).toEqual([]);
    },
  );

  it('report nothing of a cache without one', async () => {
    const { settings, handle } = start({ cache: undefined });
    expect((await handle(visit())).status).toBe(200);
    expect(settings.telemetry.of('cache')).toEqual([]);
  });

  it.each([
    ['/counter/render', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'post']],
    ['/by-name/counter/actions/add', 'POST', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'post']],
    ['/counter/theme.css', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'get']],
  ])('return 405 for another method of %s, and name %s', async (path, allow, methods) => {
    const { world, handle } = start();
    for (const method of methods) {
      const response = await handle(visit({ method, path }));
      expect([method, response.status, response.headers['allow']]).toEqual([method, 405, allow]);
    }
    expect(world.platform.calls).toEqual({ render: 0, check: 0, action: 0, theme: 0 });
  });

  it('serve from the cache whatever form the host gave the body', async () => {
    const { handle } = start();
    const written = JSON.stringify({ a: { b: 1 }, c: 2 });
    const forms = [
      { body: bytes('{"a":{"b":1},"c":2}') },
      { body: streamed(['{"a":{"b":1}', ',"c":2}']) },
      { body: written },
    ];
    const seen: unknown[] = [];
    for (const form of forms) seen.push((await handle(visit({ headers: JSON_TYPE, ...form }))).headers['x-cache']);
    expect(seen).toEqual(['MISS', 'HIT', 'HIT']);
  });

  it.each<[string, Partial<HttpRequest>, number, string, string]>([
    [
      'nested too deeply',
      { body: bytes('['.repeat(1_001) + ']'.repeat(1_001)) },
      400,
      'body_invalid',
      'The request body is nested deeper than 1000 levels.',
    ],
    ['not JSON', { body: bytes('{') }, 400, 'body_invalid', 'The request body is not JSON in UTF-8.'],
    ['two values', { body: bytes('{}{}') }, 400, 'body_invalid', 'The request body is not JSON in UTF-8.'],
    [
      'consumed',
      { body: null, bodyConsumed: true },
      500,
      'body_consumed',
      'A middleware of this server consumed the request body before the route.',
    ],
  ])('reject a body that is %s, with and without a cache', async (_what, changes, status, code, detail) => {
    for (const path of ['/counter/render', '/counter/actions/add']) {
      for (const routes of [{}, { cache: undefined }]) {
        const settings = site({ bodyLimitBytes: 3_000 });
        const { world, handle } = start({ site: settings, ...routes });
        const response = await handle(visit({ path, headers: JSON_TYPE, ...changes }));
        expect([settings.bodies.heldBytes, settings.telemetry.of('cache')]).toEqual([0, []]);
        expect(await problem(response)).toMatchObject({ status, code, detail });
        expect(world.upstream.requests).toEqual([]);
      }
    }
  });

  it('do not read the session for pages of another site', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const made = { kind: 'headers' as const, obtain: () => Promise.reject(new Error('asked')) };
    for (const auth of [ADA, made]) {
      const { world, handle } = start({ auth });
      const response = await handle(visit({ method: 'GET', path: '/counter/theme.css', headers }));
      expect([response.status, world.upstream.requests]).toEqual([403, []]);
    }
  });
});

describe('an input that is not read', () => {
  it.each([
    ['no JSON', '{"a":', 'Send one JSON value.'],
    ['too deep', '['.repeat(1_001) + ']'.repeat(1_001), 'Send less, or the data as a text.'],
  ])('because it is %s is refused with the mend', async (_title, body, hint) => {
    const { world, handle } = start({ site: site({ bodyLimitBytes: 10_000 }) });
    const response = await handle(visit({ path: '/counter/actions/add', headers: JSON_TYPE, body: bytes(body) }));
    expect([response.status, await problem(response)]).toEqual([400, expect.objectContaining({ hint })]);
    expect(world.platform.calls.action).toBe(0);
  });
});
