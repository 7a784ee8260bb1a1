import { describe, expect, it } from 'vitest';
import { COUNTER, COUNTER_BY_NAME, QUOTE, request, SurfaceWorld, user } from './surface-world.js';
import { secret } from '../../../src/domain/secret.js';
import { SERVICE } from '../credentials/broker-world.js';

const [ADA, BOB] = [user('ada'), user('bob')];

function streamOf(...chunks: readonly string[]): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const chunk of chunks) {
        await Promise.resolve();
        yield new TextEncoder().encode(chunk);
      }
    },
  };
}

describe('a render', () => {
  it('follows the sequence that was measured: hit, revalidated, rendered (a2a-and-surfaces.md §4.3)', async () => {
    const world = new SurfaceWorld();
    const counts = { HIT: 0, REVALIDATED: 0, MISS: 0 };
    const renderAs = async (plan = ADA, body = '{"a":1,"b":{"c":2,"d":3}}') => {
      const { cache } = await world.render(plan, COUNTER, { body });
      counts[cache as keyof typeof counts] += 1;
    };
    await renderAs();
    world.clock.advance(2_999);
    await renderAs(ADA, '{"b":{"d":3,"c":2},"a":1}');
    expect([Object.values(counts), world.asked]).toEqual([
      [1, 0, 1],
      [1, 0],
    ]);
    world.clock.advance(2);
    await renderAs();
    expect([Object.values(counts), world.asked]).toEqual([
      [1, 1, 1],
      [1, 1],
    ]);
    const widget = world.platform.widgets.get('counter');
    if (widget !== undefined) widget.version += 1;
    await renderAs();
    expect([Object.values(counts), world.asked]).toEqual([
      [2, 1, 1],
      [1, 1],
    ]);
    world.clock.advance(3_000);
    await renderAs();
    expect([Object.values(counts), world.asked]).toEqual([
      [2, 1, 2],
      [2, 2],
    ]);
    await Promise.all(Array.from({ length: 20 }, () => renderAs(BOB)));
    expect(world.asked).toEqual([3, 2]);
  });

  it('is fresh until its time is over, and no millisecond longer', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(2_999);
    expect((await world.render()).cache).toBe('HIT');
    world.clock.advance(1);
    expect((await world.render()).cache).toBe('REVALIDATED');
    world.clock.advance(2_999);
    expect((await world.render()).cache).toBe('HIT');
  });

  it('answers from the cache with the very answer it had', async () => {
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
    expect(second.content).toBe('\ufeffgrüße\n');
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

  it('lives for five minutes at most, however often its widget is found unchanged', async () => {
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

  it('with caching off makes no call to the store at all', async () => {
    const world = new SurfaceWorld();
    const off = await world.service.render(COUNTER, request(), ADA, undefined);
    await world.service.action(COUNTER, 'add', request(), ADA, undefined);
    expect(off.headers['x-cache']).toBe('BYPASS');
    expect(world.store.calls).toEqual({ get: 0, set: 0, delete: 0 });
  });

  it('of a user nobody knows by name is never kept', async () => {
    const world = new SurfaceWorld();
    const nameless = user('ada', '');
    expect([(await world.render(nameless)).cache, (await world.render(nameless)).cache]).toEqual(['BYPASS', 'BYPASS']);
    await world.act(nameless);
    expect([world.asked, world.store.calls]).toEqual([[2, 0], { get: 0, set: 0, delete: 0 }]);
  });
});

describe('a kept render is given to nobody', () => {
  it.each([
    ['of another name', BOB, COUNTER, {}],
    ['who is not signed in', SERVICE, COUNTER, {}],
    ['who asks for another widget', ADA, QUOTE, {}],
    ['who reads another language', ADA, COUNTER, { headers: { 'accept-language': 'de' } }],
    ['who accepts something else', ADA, COUNTER, { headers: { accept: 'text/html' } }],
    ['who sends another type', ADA, COUNTER, { body: '{"a":1}', headers: { 'content-type': 'application/json; v=2' } }],
    ['who sends another body', ADA, COUNTER, { body: '{"a":2}' }],
    ['who sends none', ADA, COUNTER, {}],
    ['who asks with another query', ADA, COUNTER, { body: '{"a":1}', query: '?b=1' }],
    ['whose list has another order', ADA, COUNTER, { body: '[2,1]' }],
    ['whose text is a number', ADA, COUNTER, { body: '{"a":"1"}' }],
  ])('%s', async (_who, plan, ref, visit) => {
    const world = new SurfaceWorld();
    await world.render(ADA, COUNTER, { body: '{"a":1}', headers: { 'accept-language': 'en' } });
    await world.render(ADA, COUNTER, { body: '{"a":1}' });
    await world.render(ADA, COUNTER, { body: '[1,2]' });
    expect((await world.render(plan, ref, visit)).cache).toBe('MISS');
  });

  it('of another project, platform, site or API key that shares the store', async () => {
    const world = new SurfaceWorld();
    await world.render();
    const others = [
      { projectId: 'proj-2' },
      { endpoint: { origin: 'https://other.example', path: '/api' } },
      { site: 'another' },
    ];
    for (const api of others) {
      const other = new SurfaceWorld({}, api);
      const cache = other.newCache({}, world.store);
      expect((await other.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
    }
    const keyed = {
      kind: 'headers' as const,
      obtain: () => world.broker.obtain(ADA as never, { headers: {}, native: { request: 0 } }),
    };
    expect((await world.render(keyed)).cache).toBe('MISS');
    expect((await world.render(keyed)).cache).toBe('HIT');
  });

  it('who comes through a route with another API key', async () => {
    const world = new SurfaceWorld();
    for (const plan of [SERVICE, ADA] as const) {
      await world.render(plan);
      const other = { ...plan, apiKey: secret('another-key') } as typeof SERVICE;
      expect((await world.render(other)).cache).toBe('MISS');
      expect((await world.render(plan)).cache).toBe('HIT');
    }
  });

  it('whose numbers a parser would take for the same', async () => {
    const world = new SurfaceWorld();
    for (const [one, other] of [
      ['{"order":9007199254740993}', '{"order":9007199254740992}'],
      ['{"a":1.0}', '{"a":1}'],
      ['{"a":1e2}', '{"a":100}'],
      ['{"a":-0}', '{"a":0}'],
    ] as const) {
      await world.render(ADA, COUNTER, { body: one });
      expect((await world.render(ADA, COUNTER, { body: other })).cache).toBe('MISS');
      expect((await world.render(ADA, COUNTER, { body: one })).cache).toBe('HIT');
    }
  });

  it('by a body that names a field twice, for nobody knows which of the two was rendered', async () => {
    const world = new SurfaceWorld();
    const twice = { body: '{"who":"eve","who":"ada"}' };
    expect([(await world.render(ADA, COUNTER, twice)).cache, (await world.render(ADA, COUNTER, twice)).cache]).toEqual([
      'BYPASS',
      'BYPASS',
    ]);
    expect((await world.render(ADA, COUNTER, { body: '{"who":"ada"}' })).cache).toBe('MISS');
  });
});

describe('an answer is not kept when it', () => {
  it.each([
    ['sets a cookie', { 'set-cookie': 'sid=1' }],
    ['says no-store', { 'cache-control': 'private, No-Store' }],
    ['varies by everything', { vary: 'accept, *' }],
    ['is compressed', { 'content-encoding': 'gzip' }],
    ['is a stream of events', { 'content-type': 'text/event-stream' }],
    ['is an image', { 'content-type': 'image/png' }],
    ['has no type', { 'content-type': undefined }],
  ])('%s', async (_what, headers) => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, headers: { ...answer.headers, ...headers } });
    expect([(await world.render()).cache, (await world.render()).cache]).toEqual(['MISS', 'MISS']);
    expect(world.asked).toEqual([2, 0]);
  });

  it.each([201, 204, 206, 400, 401, 403, 404, 429])('has the status %i', async (status) => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, status });
    const { response } = await world.render();
    expect([response.status, (await world.render()).cache]).toEqual([status, 'MISS']);
  });

  it('is too long, and is given whole all the same', async () => {
    const world = new SurfaceWorld({ maxEntryBytes: 8 });
    world.platform.rendered = (answer) => ({ ...answer, body: streamOf('1234', '5678', '9') });
    expect([(await world.render()).content, (await world.render()).cache]).toEqual(['123456789', 'MISS']);
    world.platform.rendered = (answer) => ({ ...answer, body: streamOf('1234', '5678') });
    expect([(await world.render()).content, (await world.render()).cache]).toEqual(['12345678', 'HIT']);
  });

  it('breaks off, and breaks off for the visitor too', async () => {
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

  it('is no text', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, body: Uint8Array.of(0x7b, 0xff) });
    expect([(await world.render()).cache, (await world.render()).cache]).toEqual(['MISS', 'MISS']);
  });

  it('is an error of the platform', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, status: 503 });
    await expect(world.render()).rejects.toMatchObject({ code: 'upstream_error', upstreamStatus: 503 });
    world.platform.rendered = (answer) => answer;
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('whether a widget changed', () => {
  it('is asked by GET with the entity tag, on behalf of the same caller', async () => {
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

  it.each([404, 405, 501])('that the platform cannot say (%i), it is not asked again for a minute', async (status) => {
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
  });

  it.each([200, 403, 500])('that is answered by something else (%i) leads to a new render', async (status) => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    world.platform.checked = { status, headers: {}, body: null };
    expect([(await world.render()).cache, world.asked]).toEqual(['MISS', [2, 1]]);
  });

  it('that cannot be asked is an error: nothing stale is shown', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    world.platform.isDown = true;
    await expect(world.render()).rejects.toMatchObject({ code: 'upstream_unreachable' });
    world.platform.isDown = false;
    expect((await world.render()).cache).toBe('REVALIDATED');
  });

  it('is asked with the tag of the widget once that is known, when a render has none or another', async () => {
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

  it('is not believed to be "no" when nobody asked with a tag', async () => {
    const world = new SurfaceWorld();
    world.platform.rendered = (answer) => ({ ...answer, headers: { 'content-type': 'application/json' } });
    await world.render();
    world.clock.advance(3_000);
    world.platform.checked = { status: 304, headers: {}, body: null };
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('of the renders kept', () => {
  it('the least recently used go first when there are too many', async () => {
    const world = new SurfaceWorld({ maxEntries: 2 });
    const render = async (body: string): Promise<unknown> => (await world.render(ADA, COUNTER, { body })).cache;
    expect([await render('1'), await render('2'), await render('1'), await render('3')]).toEqual([
      'MISS',
      'MISS',
      'HIT',
      'MISS',
    ]);
    expect([await render('1'), await render('3'), await render('2')]).toEqual(['HIT', 'HIT', 'MISS']);
  });

  it('none is believed that the store made up', async () => {
    const world = new SurfaceWorld();
    for (const garbage of [
      '',
      'x',
      '{}\nbody',
      'null\nbody',
      '{"renderedAt":1}\n',
      '{"renderedAt":0,"checkedAt":0,"generation":"g","etag":"","headers":null}\nx',
    ]) {
      const store = {
        get: () => Promise.resolve(garbage),
        set: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      };
      expect((await world.render(ADA, COUNTER, {}, world.newCache({}, store))).cache).toBe('MISS');
    }
  });

  it("none is of the future, whatever another machine's clock says", async () => {
    const world = new SurfaceWorld();
    world.clock.advance(10_000);
    await world.render();
    world.clock.advance(-1);
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('a store', () => {
  it('keeps the renders of two widgets side by side', async () => {
    const world = new SurfaceWorld();
    const seen: unknown[] = [];
    for (const ref of [COUNTER, QUOTE, COUNTER_BY_NAME, COUNTER, QUOTE])
      seen.push((await world.render(ADA, ref)).cache);
    expect(seen).toEqual(['MISS', 'MISS', 'MISS', 'HIT', 'HIT']);
  });

  it('that never forgets makes no render older than it may be', async () => {
    const world = new SurfaceWorld();
    const entries = new Map<string, string>();
    const store = {
      get: (key: string) => Promise.resolve(entries.get(key)),
      set: (key: string, value: string) => Promise.resolve(void entries.set(key, value)),
      delete: (key: string) => Promise.resolve(void entries.delete(key)),
    };
    const cache = world.newCache({}, store);
    await world.render(ADA, COUNTER, {}, cache);
    world.clock.advance(299_999);
    expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('REVALIDATED');
    world.clock.advance(1);
    expect((await world.render(ADA, COUNTER, {}, cache)).cache).toBe('MISS');
  });

  it('that another machine wrote to, whose clock is ahead, does not make a check last longer', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(4_000);
    await world.render();
    world.clock.advance(-1);
    expect((await world.render()).cache).toBe('REVALIDATED');
  });
});

describe('many visitors at once', () => {
  it('cause one render: 200 of them', async () => {
    const world = new SurfaceWorld();
    const shown = await Promise.all(Array.from({ length: 200 }, () => world.render(SERVICE)));
    expect(world.asked).toEqual([1, 0]);
    expect(new Set(shown.map(({ content }) => content)).size).toBe(1);
  });

  it('cause one render each when they are 20 users, and each sees their own', async () => {
    const world = new SurfaceWorld();
    const names = Array.from({ length: 200 }, (_, index) => `user${String(index % 20)}`);
    const shown = await Promise.all(names.map((name) => world.render(user(name))));
    expect(world.asked).toEqual([20, 0]);
    expect(shown.map(({ content }) => content)).toEqual(names.map((name) => `counter v1 s0 for ${name}`));
  });

  it('cause one check', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    const shown = await Promise.all(Array.from({ length: 50 }, () => world.render()));
    expect([world.asked, new Set(shown.map(({ cache }) => cache))]).toEqual([[1, 1], new Set(['REVALIDATED'])]);
  });

  it('are all told when the platform is down, by one call', async () => {
    const world = new SurfaceWorld();
    world.platform.isDown = true;
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => world.render()));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(world.asked).toEqual([1, 0]);
  });

  it('do not share what must not be kept', async () => {
    const world = new SurfaceWorld();
    let count = 0;
    world.platform.rendered = (answer) => {
      count += 1;
      return { ...answer, headers: { ...answer.headers, 'set-cookie': 'a=b' }, body: String(count) };
    };
    const shown = await Promise.all(Array.from({ length: 5 }, () => world.render()));
    expect(new Set(shown.map(({ content }) => content)).size).toBe(5);
  });

  it('wait on, when the first of them leaves', async () => {
    const world = new SurfaceWorld();
    const leaving = new AbortController();
    const first = world.render(ADA, COUNTER, { signal: leaving.signal });
    const second = world.render();
    leaving.abort();
    expect([(await first).cache, (await second).cache]).toEqual(['MISS', 'MISS']);
    expect(world.upstream.requests.map(({ signal }) => signal.aborted)).toEqual([false]);
  });
});
