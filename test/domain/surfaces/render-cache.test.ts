import { describe, expect, it } from 'vitest';
import { COUNTER, COUNTER_BY_NAME, QUOTE, request, streamOf, SurfaceWorld, user } from './surface-world.js';
import { secret } from '../../../src/domain/shared/secret.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import { errorOf } from '../../support/error-of.js';

const [ADA, BOB] = [user('ada'), user('bob')];

describe('a render', () => {
  it('is fresh until the last millisecond of its lifetime', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(2_999);
    expect((await world.render()).cache).toBe('HIT');
    world.clock.advance(1);
    expect((await world.render()).cache).toBe('REVALIDATED');
    world.clock.advance(2_999);
    expect((await world.render()).cache).toBe('HIT');
  });

  it('returns the same response from the cache', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({
      ...answer,
      headers: {
        ...answer.headers,
        'content-type': 'text/plain',
        'x-surface-version': '7',
        server: 'x',
        'content-length': '11',
      },
      body: streamOf('\ufeffgr', 'üße\n'),
    });
    const [first, second] = [await world.render(), await world.render()];
    expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
    expect(second.response.body, 'shared by all').toBe(first.response.body);
    expect(second.response.body).toBe('\ufeffgrüße\n');
    expect({ ...second.response, headers: { ...second.response.headers, 'x-cache': 'MISS' } }).toEqual(first.response);
    expect(second.response.headers).toEqual({
      'content-type': 'text/plain',
      etag: '"counter-1"',
      'x-surface-version': '7',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-cache': 'HIT',
    });
  });

  it('lives for five minutes at most, however often it is revalidated', async () => {
    const world = new SurfaceWorld();
    await world.render();
    for (let minute = 0; minute < 4; minute += 1) {
      world.clock.advance(60_000);
      expect((await world.render()).cache).toBe('REVALIDATED');
    }
    world.clock.advance(59_999);
    expect((await world.render()).cache).toBe('REVALIDATED');
    world.clock.advance(1);
    expect((await world.render()).cache).toBe('MISS');
  });

  it('reads three entries of the store for a hit, and writes none', async () => {
    const world = new SurfaceWorld();
    await world.render();
    const { get, ...writes } = world.store.calls;
    // Two generations and the render.
    expect(writes).toEqual({ set: 3, delete: 0 });
    expect([(await world.render()).cache, world.store.calls]).toEqual(['HIT', { get: get + 3, ...writes }]);
  });

  it('without a cache makes no call to the store', async () => {
    const world = new SurfaceWorld();
    const off = await world.service.render(COUNTER, request(), ADA, undefined);
    await world.service.action(COUNTER, 'add', request(), ADA, undefined);
    expect(off.headers['x-cache']).toBe('BYPASS');
    expect(world.store.calls).toEqual({ get: 0, set: 0, delete: 0 });
  });

  it('of a user without a subject is never cached', async () => {
    const world = new SurfaceWorld();
    const nameless = user('ada', '');
    expect([(await world.render(nameless)).cache, (await world.render(nameless)).cache]).toEqual(['BYPASS', 'BYPASS']);
    await world.act(nameless);
    expect([world.asked, world.store.calls]).toEqual([[2, 0], { get: 0, set: 0, delete: 0 }]);
  });
});

describe('a cached render', () => {
  it.each([
    ['with another subject', BOB, COUNTER, {}],
    ['who is not signed in', SERVICE, COUNTER, {}],
    ['who requests another widget', ADA, QUOTE, {}],
    ['who prefers another language', ADA, COUNTER, { body: '{"a":1}', headers: { 'accept-language': 'de' } }],
    ['who accepts another type', ADA, COUNTER, { body: '{"a":1}', headers: { accept: 'text/html' } }],
    ['with another protocol version', ADA, COUNTER, { body: '{"a":1}', headers: { 'a2a-version': '1.1' } }],
    ['with an extension', ADA, COUNTER, { body: '{"a":1}', headers: { 'a2a-extensions': 'x' } }],
    ['who repeats a request', ADA, COUNTER, { body: '{"a":1}', headers: { 'idempotency-key': 'once' } }],
    ['who continues a stream', ADA, COUNTER, { body: '{"a":1}', headers: { 'last-event-id': '7' } }],
    ['with an extension in the old field', ADA, COUNTER, { body: '{"a":1}', headers: { 'x-a2a-extensions': 'x' } }],
    ['who sends another type', ADA, COUNTER, { body: '{"a":1}', headers: { 'content-type': 'application/json; v=2' } }],
    ['who sends another body', ADA, COUNTER, { body: '{"a":2}' }],
    ['who sends no body', ADA, COUNTER, {}],
    ['with another query', ADA, COUNTER, { body: '{"a":1}', query: '?b=1' }],
    ['whose list is in another order', ADA, COUNTER, { body: '[2,1]' }],
    ['whose value is a string instead of a number', ADA, COUNTER, { body: '{"a":"1"}' }],
  ])('is not served to a visitor %s', async (_who, auth, ref, visit) => {
    const world = new SurfaceWorld();
    await world.render(ADA, COUNTER, { body: '{"a":1}', headers: { 'accept-language': 'en' } });
    await world.render(ADA, COUNTER, { body: '{"a":1}' });
    await world.render(ADA, COUNTER, { body: '[1,2]' });
    expect((await world.render(auth, ref, visit)).cache).toBe('MISS');
  });

  it.each([
    ['accept-language', 'de'],
    ['accept', 'text/html'],
    ['a2a-version', '1.1'],
    ['idempotency-key', 'once'],
  ])('rendered without %s, since the visitor withheld it, is not served to one who sends it', async (name, value) => {
    const world = new SurfaceWorld();
    const sent = { body: '{"a":1}', headers: { [name]: value } };
    // RFC 9110 §7.6.1: a field named in `Connection` ends here.
    await world.render(ADA, COUNTER, { ...sent, headers: { ...sent.headers, connection: `close, ${name}` } });
    expect([
      (await world.render(ADA, COUNTER, sent)).cache,
      world.upstream.requests.map(({ headers }) => headers[name]),
    ]).toEqual(['MISS', [undefined, value]]);
    expect(
      (await world.render(ADA, COUNTER, { ...sent, headers: { ...sent.headers, connection: 'close' } })).cache,
    ).toBe('HIT');
  });

  it('is not served for another platform with the same store', async () => {
    const world = new SurfaceWorld();
    await world.render();
    const other = new SurfaceWorld({}, { platformKey: 'another' });
    const cache = other.newCache({}, world.store);
    expect((await other.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });

  it('is not served through a route with another API key', async () => {
    const world = new SurfaceWorld();
    for (const auth of [SERVICE, ADA] as const) {
      await world.render(auth);
      const other = { ...auth, apiKey: secret('another-key') } as typeof SERVICE;
      expect((await world.render(other)).cache).toBe('MISS');
      expect((await world.render(auth)).cache).toBe('HIT');
    }
  });

  it('is not served for a body that one parser reads alike and another does not', async () => {
    const world = new SurfaceWorld();
    const twice = { body: '{"who":"eve","who":"ada"}' };
    expect([(await world.render(ADA, COUNTER, twice)).cache, (await world.render(ADA, COUNTER, twice)).cache]).toEqual([
      'MISS',
      'HIT',
    ]);
    expect((await world.render(ADA, COUNTER, { body: '{"who":"ada"}' })).cache).toBe('MISS');
  });
});

describe('a response', () => {
  it.each(['null', '{"surface":null}', '{"surface":[]}', '7'])(
    'is cached even without a surface in it: %s',
    async (body) => {
      const world = new SurfaceWorld();
      world.platform.rendered = (answer) => ({ ...answer, body });
      expect([(await world.render()).cache, (await world.render()).cache]).toEqual(['MISS', 'HIT']);
    },
  );
});

describe('a response', () => {
  it.each([201, 204, 206, 400, 401, 403, 404, 429])('is not cached with the status %i', async (status) => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, status });
    const { response } = await world.render();
    expect([response.status, (await world.render()).cache]).toEqual([status, 'MISS']);
  });

  it('is not cached when too long, and is returned complete', async () => {
    const world = new SurfaceWorld({ maxEntryBytes: 8 });
    world.platform.rendered = (answer) => ({ ...answer, body: streamOf('1234', '5678', '9') });
    expect([(await world.render()).content, (await world.render()).cache]).toEqual(['123456789', 'MISS']);
    world.platform.rendered = (answer) => ({ ...answer, body: streamOf('1234', '5678') });
    expect([(await world.render()).content, (await world.render()).cache]).toEqual(['12345678', 'HIT']);
  });

  it('is not cached when it breaks off, and is aborted for the visitor too', async () => {
    const world = new SurfaceWorld();
    const broken = {
      async *[Symbol.asyncIterator]() {
        await Promise.resolve();
        yield new TextEncoder().encode('{"half":');
        throw new Error('socket hang up');
      },
    };
    world.platform.rendered = (answer) => ({ ...answer, body: broken });
    await expect(world.render()).rejects.toThrow('socket hang up');
    await expect(world.render()).rejects.toThrow('socket hang up');
    expect(world.asked).toEqual([2, 0]);
  });

  it('is not cached when it is not text', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, body: Uint8Array.of(0x7b, 0xff) });
    expect([(await world.render()).cache, (await world.render()).cache]).toEqual(['MISS', 'MISS']);
  });

  it('is not cached when it is an error of the platform', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, status: 503 });
    await expect(world.render()).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: 503 });
    world.platform.rendered = (answer) => answer;
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('the revalidation of a render', () => {
  it("is a GET with the entity tag and the caller's credential", async () => {
    const world = new SurfaceWorld();
    const visit = { body: '{"a":1}', headers: { 'accept-language': 'de', 'idempotency-key': 'k' } };
    await world.render(ADA, COUNTER_BY_NAME, visit);
    world.clock.advance(3_000);
    await world.render(ADA, COUNTER_BY_NAME, visit);
    expect(world.upstream.requests[1]).toMatchObject({
      method: 'GET',
      path: '/api/surfaces/by-name/Counter',
      body: null,
      headers: {
        'if-none-match': '"counter-1"',
        accept: 'application/json',
        'accept-language': 'de',
        authorization: 'Bearer ada-token',
        'x-api-key': 'site-key',
        'x-project-id': 'proj-1',
      },
    });
    expect(Object.keys(world.upstream.requests[1]?.headers ?? {})).toHaveLength(6);
  });

  it.each([404, 405, 501])(
    'is not repeated for a minute when the platform does not support it (%i)',
    async (status) => {
      const world = new SurfaceWorld();
      world.platform.checked = { status, headers: {}, body: null };
      await world.render();
      for (const [advance, renders, checks] of [
        [3_000, 2, 1],
        [3_000, 3, 1],
        [56_999, 4, 1],
        [3_000, 5, 2],
      ] as const) {
        world.clock.advance(advance);
        expect((await world.render()).cache).toBe('MISS');
        expect(world.asked).toEqual([renders, checks]);
      }
    },
  );

  it('is paused per widget, for exactly a minute', async () => {
    const world = new SurfaceWorld();
    const checkedAfter = async (ms: number, ...render: Parameters<SurfaceWorld['render']>): Promise<boolean> => {
      const before = world.platform.calls.check;
      world.clock.advance(ms);
      await world.render(...render);
      return world.platform.calls.check > before;
    };
    world.platform.checked = { status: 404, headers: {}, body: null };
    for (const ref of [COUNTER, QUOTE]) await world.render(ADA, ref);
    for (const body of ['1', '2']) await world.render(ADA, COUNTER, { body });
    expect(await checkedAfter(3_000, ADA, COUNTER)).toBe(true);
    expect(await checkedAfter(3_000, ADA, QUOTE)).toBe(true);
    expect(await checkedAfter(3_000, ADA, COUNTER)).toBe(false);
    expect(await checkedAfter(53_999, ADA, COUNTER, { body: '1' })).toBe(false);
    expect(await checkedAfter(1, ADA, COUNTER, { body: '2' })).toBe(true);
  });

  it.each([
    ['returns another status', ADA, 200],
    ['fails at the platform', ADA, 500],
    ['is forbidden for the user', ADA, 403],
    ['is unauthorized for the user', ADA, 401],
    ['is forbidden for the site', SERVICE, 403],
  ])('that %s leads to a new render', async (_what, auth, status) => {
    const world = new SurfaceWorld();
    await world.render(auth);
    world.clock.advance(3_000);
    world.platform.checked = { status, headers: {}, body: 'no' };
    expect((await world.render(auth)).cache).toBe('MISS');
    expect(world.asked[0]).toBe(2);
  });

  it('is an error when it is rejected for the site, even after a renewal', async () => {
    const world = new SurfaceWorld();
    await world.render(SERVICE);
    world.clock.advance(3_000);
    world.platform.checked = { status: 401, headers: {}, body: 'no such client' };
    const error = await errorOf(world.render(SERVICE));
    expect(error).toMatchObject({ code: 'service_token_rejected', block: 'serviceAccount' });
    expect(world.asked).toEqual([1, 2]);
    expect(error.logDetail()).toBe('status 401 from the platform: no such client');
  });

  it('is an error when it fails, and no stale render is served', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    world.platform.isDown = true;
    await expect(world.render()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    world.platform.isDown = false;
    expect((await world.render()).cache).toBe('REVALIDATED');
  });

  it('takes the entity tag from the last revalidation when the render has none', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, headers: { 'content-type': 'application/json' } });
    const seen: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      seen.push((await world.render()).cache);
      world.clock.advance(3_000);
    }
    expect(seen).toEqual(['MISS', 'MISS', 'REVALIDATED']);
    expect(
      world.upstream.requests.filter(({ method }) => method === 'GET').map(({ headers }) => headers['if-none-match']),
    ).toEqual([undefined, '"counter-1"']);
  });

  it('leads to a new render after a 304 that was not requested with an entity tag', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, headers: { 'content-type': 'application/json' } });
    await world.render();
    world.clock.advance(3_000);
    world.platform.checked = { status: 304, headers: {}, body: null };
    expect((await world.render()).cache).toBe('MISS');
  });
});
