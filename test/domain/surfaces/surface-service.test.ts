import { describe, expect, it } from 'vitest';
import { Credential } from '../../../src/domain/credentials/credential.js';
import { ownedBy, SERVICE } from '../credentials/broker-fixture.js';
import { ThemeTags } from '../../../src/domain/surfaces/theme.js';
import { WatchedBody } from '../chat/chat-world.js';
import { ADA, API, bodyOf, COUNTER, COUNTER_BY_NAME, request, SurfaceWorld } from './surface-world.js';
import { errorOf } from '../../support/error-of.js';

describe('a render', () => {
  it('is requested unchanged with the credential and the project', async () => {
    const world = new SurfaceWorld();
    const { signal } = new AbortController();
    const headers = {
      'accept-language': 'de',
      'content-type': 'application/json; charset=utf-16',
      cookie: 'sid=1',
      authorization: 'Bearer theirs',
      'x-project-id': 'theirs',
    };
    await world.service.render(
      COUNTER,
      request({ body: '{"a": 1}', headers, query: '?v=2', signal }),
      SERVICE,
      undefined,
    );
    expect(world.upstream.requests).toEqual([
      {
        method: 'POST',
        origin: 'https://platform.example',
        path: '/api/surfaces/counter/render?v=2',
        headers: {
          'content-type': 'application/json',
          'accept-language': 'de',
          authorization: 'Bearer account-token-1',
          'x-api-key': 'site-key',
          'x-project-id': 'proj-1',
        },
        body: new TextEncoder().encode('{"a": 1}'),
        signal,
        headersMs: 60_000,
        bodyIdleMs: 30_000,
      },
    ]);
  });

  it('is requested without a project when none is configured', async () => {
    const world = new SurfaceWorld({}, { projectId: '' });
    await world.render();
    expect(world.upstream.requests[0]?.headers['x-project-id']).toBeUndefined();
  });

  it.each([
    [{ by: 'id', value: 'my list' }, '/api/surfaces/my%20list/render'],
    [{ by: 'id', value: 'a;b?c%2f' }, '/api/surfaces/a%3Bb%3Fc%252f/render'],
    [{ by: 'name', value: 'größe' }, '/api/surfaces/by-name/gr%C3%B6%C3%9Fe/render'],
  ] as const)('of %j is requested from %s', async (ref, path) => {
    const world = new SurfaceWorld();
    await world.render(ADA, ref).catch(() => undefined);
    expect(world.upstream.requests[0]?.path).toBe(path);
  });

  it('uses the paths configured by the site', async () => {
    const paths = { ...API.paths, render: '/p/{projectId}/{id}/r', renderByName: '/n/{name}' };
    const world = new SurfaceWorld(
      {},
      { paths, projectId: 'a/b', endpoint: { origin: 'https://p.example', path: '/' } },
    );
    await world.render(ADA, COUNTER).catch(() => undefined);
    await world.render(ADA, COUNTER_BY_NAME).catch(() => undefined);
    expect(world.upstream.requests.map(({ origin, path }) => origin + path)).toEqual([
      'https://p.example/p/a%2Fb/counter/r',
      'https://p.example/n/Counter',
    ]);
  });

  it.each([
    [{ endpoint: undefined }, 'serviceApiUrl'],
    [{ projectId: '', paths: { ...API.paths, render: '/{projectId}/{id}' } }, 'serviceProjectId'],
  ])('fails without a required field, naming it before any token is fetched', async (api, field) => {
    const world = new SurfaceWorld({}, api);
    await expect(world.render(SERVICE)).rejects.toMatchObject({ code: 'service_auth_failed', fields: [field] });
    expect([world.account.issued, world.upstream.requests.length]).toEqual([0, 0]);
  });

  it.each([
    [
      { status: 302, headers: { location: 'https://evil.example' }, body: null },
      'upstream_redirect',
      ['serviceApiUrl'],
    ],
    [{ status: 502, headers: {}, body: '<h1>nginx</h1>' }, 'upstream_error', []],
    [
      { kind: 'failure' as const, reason: 'timeout' as const, log: '10.0.0.7' },
      'upstream_timeout',
      ['serviceApiUrl'],
      true,
    ],
  ])('is an error when the platform cannot return it (%#)', async (answer, code, fields, retryable = false) => {
    const world = new SurfaceWorld();
    world.upstream.willAnswer(() => answer);
    const failure = world.service.render(COUNTER, request(), SERVICE, undefined);
    await expect(failure).rejects.toMatchObject({ code, fields, retryable });
    await expect(failure).rejects.toThrow(/^The platform/);
  });

  it("is requested with the site's own headers, and their rejection is forwarded", async () => {
    const world = new SurfaceWorld();
    const made = { authorization: 'Bearer made', 'x-project-id': 'made' };
    const facts = { kind: 'session', headers: made, owner: ownedBy(), block: 'getHeaders' } as const;
    const credential = new Credential({ ...facts });
    world.upstream.willAnswer(() => ({ status: 401, headers: {}, body: null }));
    const { response } = await world.render({ kind: 'headers', obtain: () => Promise.resolve(credential) });
    expect(response.status).toBe(401);
    expect(world.upstream.requests.map(({ headers }) => headers)).toEqual([made]);
  });

  it('is forwarded unchanged when the platform rejects it', async () => {
    const world = new SurfaceWorld();
    world.upstream.willAnswer(() => ({
      status: 422,
      headers: { 'content-type': 'application/json', 'x-cache': 'theirs' },
      body: '{"e":1}',
    }));
    const { response, content } = await world.render();
    expect([response.status, content, response.headers['x-cache']]).toEqual([422, '{"e":1}', 'MISS']);
  });
});

describe('a theme', () => {
  const theme = (world: SurfaceWorld, headers = {}) => world.service.theme(COUNTER, request({ headers }), SERVICE);

  it('is a style sheet that browsers cache and revalidate', async () => {
    const world = new SurfaceWorld();
    const response = await theme(world);
    expect({ ...response, body: await bodyOf(response) }).toEqual({
      status: 200,
      headers: {
        'content-type': 'text/css; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
        etag: expect.stringMatching(/^"counter-1\.[0-9a-f]{8}"$/) as string,
      },
      body: ':root{}',
    });
    expect(world.upstream.requests[0]).toMatchObject({
      method: 'GET',
      path: '/api/surfaces/counter/theme.css',
      body: null,
    });
  });

  it('is not sent again to a browser that has it', async () => {
    const world = new SurfaceWorld();
    const etag = (await theme(world)).headers['etag'];
    world.upstream.willAnswer(() => ({
      status: 304,
      headers: { etag: '"counter-1"', 'content-type': 'text/html' },
      body: null,
    }));
    expect(await theme(world, { 'if-none-match': `W/"other", ${String(etag)}` })).toEqual({
      status: 304,
      headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache', etag },
      body: null,
    });
    expect(world.upstream.requests[1]?.headers['if-none-match']).toBe('"counter-1"');
    await expect(theme(world)).rejects.toMatchObject({ code: 'upstream_redirect' });
  });

  it.each([
    ['without an entity tag of the platform', {}, 200],
    ['with a weak entity tag', { etag: 'W/"1"' }, 200],
    ['from a platform that ignores conditions', { etag: '"1"' }, 200],
  ])('%s gets an entity tag of its content and is not sent twice', async (_what, fields, status) => {
    const world = new SurfaceWorld();
    const answer = (body: string) => () => ({
      status,
      headers: {
        'content-type': 'text/css',
        'content-length': '9',
        'last-modified': 'Tue, 24 Nov 2026 10:00:00 GMT',
        ...fields,
      },
      body,
    });
    world.upstream.willAnswer(answer('a{b:url(//evil.example)}'));
    const { headers } = await theme(world);
    expect(headers['etag']).toMatch(/^(?:W\/)?"[\w-]+\.[0-9a-f]{8}"$/);
    expect(headers).not.toHaveProperty('content-length');
    expect(headers).not.toHaveProperty('last-modified');
    expect(await theme(world, { 'if-none-match': headers['etag'] })).toMatchObject({ status: 304, body: null });
    expect((await theme(world, { 'if-none-match': '*' })).status).toBe(304);
  });

  it("is fetched unconditionally when the browser's copy has other rules", async () => {
    const world = new SurfaceWorld();
    await theme(world, { 'if-none-match': '"counter-1", "counter-1.00000000", "x' });
    expect(world.upstream.requests[0]?.headers).not.toHaveProperty('if-none-match');
  });

  it("has no entity tag when the platform's 304 has none, and none of the platform's 304 is read", async () => {
    const world = new SurfaceWorld();
    const etag = (await theme(world)).headers['etag'];
    const body = new WatchedBody('unread');
    world.upstream.willAnswer(() => ({ status: 304, headers: {}, body }));
    const { headers } = await theme(world, { 'if-none-match': etag });
    expect([headers, body.ended]).toEqual([
      { 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-cache' },
      true,
    ]);
  });

  it('has the fields that the site lets through, and varies by those it forwards', async () => {
    const world = new SurfaceWorld();
    const fields = { request: ['x-unit', 'traceparent'], response: ['x-trace'] };
    for (const [status, vary, expected] of [
      [200, ['accept', 'origin'], 'accept, origin, x-unit'],
      [200, undefined, 'x-unit'],
      [404, 'accept', 'accept'],
    ] as const) {
      const type = status === 200 ? 'text/css' : 'application/json';
      const headers = { 'content-type': type, 'x-trace': '7', ...(vary && { vary }) };
      world.upstream.willAnswer(() => ({ status, headers, body: '{}' }));
      const response = await world.service.theme(COUNTER, request(), { ...SERVICE, fields });
      expect(response).toMatchObject({ status, headers: { vary: expected, 'x-trace': '7' } });
    }
  });

  it('is rejected when it has a content coding', async () => {
    const world = new SurfaceWorld();
    const headers = { 'content-type': 'text/css', 'content-encoding': 'gzip' };
    world.upstream.willAnswer(() => ({ status: 200, headers, body: 'a{}' }));
    await expect(theme(world)).rejects.toMatchObject({ code: 'upstream_invalid_response' });
  });

  it('is sent whole when it has changed', async () => {
    const response = await theme(new SurfaceWorld(), { 'if-none-match': '"counter-0"' });
    expect([response.status, await bodyOf(response)]).toEqual([200, ':root{}']);
  });

  it.each([
    [200, 'text/html'],
    [200, undefined],
    [204, 'text/css'],
    [206, 'text/css'],
  ])('is rejected with another status or type (%i, %j)', async (status, type) => {
    const world = new SurfaceWorld();
    const body = new WatchedBody('<script>');
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': type }, body }));
    const error = await errorOf(theme(world));
    expect(body.ended).toBe(true);
    expect(error).toMatchObject({
      code: 'upstream_invalid_response',
      detail: 'The response of the platform is not a style sheet.',
    });
    expect(error.logDetail()).toContain(`Status ${String(status)}.`);
  });

  it('is at most 1 MiB long, and not nested too deeply', async () => {
    const world = new SurfaceWorld();
    const answer = (length: number) => () => ({
      status: 200,
      headers: { 'content-type': 'text/css' },
      body: `a{b:url("data:font/woff2;base64,${'A'.repeat(length - 35)}")}`,
    });
    world.upstream.willAnswer(answer(1_048_576));
    expect(await bodyOf(await theme(world))).toHaveLength(1_048_576);
    const tooDeep = { ...answer(35)(), body: '{'.repeat(1_000) };
    // The quotes are added.
    const longer = { ...answer(35)(), body: answer(1_048_578)().body.replaceAll('"', '') };
    for (const [bad, fault] of [
      [answer(1_048_577)(), 'too long or incomplete'],
      [tooDeep, 'too long or nested too deeply to be checked'],
      [longer, 'too long or nested too deeply to be checked'],
    ] as const) {
      world.upstream.willAnswer(() => bad);
      const error = await errorOf(theme(world));
      const detail = `The style sheet of the platform is ${fault}.`;
      expect(error).toMatchObject({ code: 'upstream_invalid_response', detail });
      expect(error.logDetail()).toBe(`${detail} Status 200.`);
    }
  });

  it.each([400, 404])("keeps the JSON of the platform's error (%i)", async (status) => {
    const world = new SurfaceWorld();
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': 'application/json' }, body: '{"no":1}' }));
    const response = await theme(world);
    expect([response.status, await bodyOf(response)]).toEqual([status, '{"no":1}']);
    expect(response.headers['cache-control']).toBe('no-store');
  });

  it.each([400, 404, 500])("is an error without the text of the platform's error page (%i)", async (status) => {
    const world = new SurfaceWorld();
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': 'text/html' }, body: '<h1>tenant-7' }));
    const refused = theme(world);
    await expect(refused).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: status });
    await expect(refused).rejects.not.toThrow('tenant-7');
  });
});

describe('the entity tag of a theme', () => {
  it.each<[string | readonly string[] | undefined, string | undefined]>([
    ['"a.r1"', '"a"'],
    ['W/"a.r1", "b.r2","c.r1" , "d', 'W/"a", "c"'],
    [['"a.r1"', '*'], '"a"'],
    ['a.r1', undefined],
    ['*', undefined],
    [undefined, undefined],
  ])('in "If-None-Match: %s" is sent to the platform as %s', (field, tag) => {
    expect(new ThemeTags('r1', field).forPlatform).toBe(tag);
  });

  it.each<[string | readonly string[] | undefined, string, string | undefined]>([
    ['"a"', 'digest', '"a.r1"'],
    ['W/"a"', '', 'W/"a.r1"'],
    ['""', '', '".r1"'],
    ['x"a"', 'digest', '"digest.r1"'],
    ['"a"x', 'digest', '"digest.r1"'],
    ['"a", "b"', 'digest', '"digest.r1"'],
    [['"a"'], 'digest', '"digest.r1"'],
    [undefined, '', undefined],
  ])("is, for the platform's tag %s and the digest %j: %s", (tag, digest, expected) => {
    expect(new ThemeTags('r1', undefined).of(tag, digest)).toBe(expected);
  });

  it.each([
    ['"a.r1"', '"a.r1"', true],
    ['W/"a.r1"', '"a.r1"', true],
    ['"b.r1", "a.r1"', 'W/"a.r1"', true],
    ['"W/a.r1"', '"a.r1"', false],
    ['"b.r1"', '"a.r1"', false],
    ['*', '"a.r1"', true],
    ['*', undefined, false],
    [undefined, '"a.r1"', false],
  ])('in "If-None-Match: %s" matches %s: %s', (field, tag, expected) => {
    expect(new ThemeTags('r1', field).matches(tag)).toBe(expected);
  });
});
