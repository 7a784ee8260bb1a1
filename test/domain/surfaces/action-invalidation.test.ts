import { describe, expect, it } from 'vitest';
import { SERVICE } from '../credentials/broker-fixture.js';
import { bodyOf, COUNTER, COUNTER_BY_NAME, QUOTE, request, SurfaceWorld, user } from './surface-world.js';
import { held } from './widget-platform.js';

const [ADA, BOB] = [user('ada'), user('bob')];

describe('an action', () => {
  it('causes a new render, even in another process', async () => {
    const world = new SurfaceWorld();
    const elsewhere = world.newCache();
    await world.render();
    expect((await world.render(ADA, COUNTER, {}, elsewhere)).cache).toBe('HIT');
    await world.act();
    for (const cache of [elsewhere, world.cache]) {
      expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
    }
    expect(world.asked).toEqual([2, 0]);
  });

  it('invalidates every render of the surface: each body and language, by id and by name', async () => {
    const world = new SurfaceWorld();
    const visits = [{}, { body: '{"a":1}' }, { headers: { 'accept-language': 'de' } }];
    for (const visit of visits) for (const ref of [COUNTER, COUNTER_BY_NAME]) await world.render(ADA, ref, visit);
    for (const ref of [COUNTER, COUNTER_BY_NAME]) {
      await world.act(ADA, ref);
      for (const visit of visits) {
        for (const shownAs of [COUNTER, COUNTER_BY_NAME])
          expect((await world.render(ADA, shownAs, visit)).cache).toBe('MISS');
      }
    }
  });

  it('is in the next render, although a render from before it ends later', async () => {
    const world = new SurfaceWorld();
    const { until, release } = held();
    world.platform.holds.render.push(until);
    const early = world.beginRender();
    await world.clock.pass(0);
    await world.act();
    await world.render();
    release();
    expect((await world.clock.result(early)).content).toBe('counter v1 s0 for ada');
    const elsewhere = await world.render(ADA, COUNTER, {}, world.newCache());
    expect(elsewhere.content).toBe('counter v1 s1 for ada');
  });

  it('is not assumed when a surface is rendered by its id, then by its name', async () => {
    const world = new SurfaceWorld();
    for (const ref of [QUOTE, COUNTER, COUNTER_BY_NAME]) await world.render(ADA, ref);
    expect((await world.render(ADA, QUOTE)).cache).toBe('HIT');
  });

  it('by an unknown id invalidates the render by name', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, COUNTER_BY_NAME);
    await world.act(ADA, COUNTER);
    expect((await world.render(ADA, COUNTER_BY_NAME)).content).toBe('counter v1 s1 for ada');
  });

  it('keeps the renders of other surfaces, other users and the site', async () => {
    const world = new SurfaceWorld();
    for (const [auth, ref] of [
      [ADA, COUNTER],
      [ADA, QUOTE],
      [BOB, COUNTER],
      [SERVICE, COUNTER],
    ] as const)
      await world.render(auth, ref);
    await world.act(ADA, COUNTER);
    for (const [auth, ref] of [
      [ADA, QUOTE],
      [BOB, COUNTER],
      [SERVICE, COUNTER],
    ] as const) {
      expect((await world.render(auth, ref)).cache).toBe('HIT');
    }
  });

  it.each([
    ['no names', COUNTER_BY_NAME, '{"content":"opaque"}'],
    ['its name only', COUNTER_BY_NAME, '{"surface":{"name":"Counter"}}'],
    ['its id only', COUNTER, '{"surface":{"id":"counter"}}'],
    ['an invalid id', COUNTER_BY_NAME, '{"surface":{"id":7,"name":"Counter"}}'],
    ['an invalid name', COUNTER, '{"surface":{"id":"counter","name":null}}'],
    ['no surface', COUNTER, '{"surface":null}'],
    ['the body "null"', COUNTER, 'null'],
  ])('on an unknown surface invalidates all renders of the user when the reply has %s', async (_what, ref, reply) => {
    const world = new SurfaceWorld();
    await world.render(ADA, QUOTE);
    world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: reply }));
    await world.act(ADA, ref);
    world.upstream.willAnswer(world.platform.answer);
    expect((await world.render(ADA, QUOTE)).cache).toBe('MISS');
  });

  it('on a surface with its id as name invalidates both renders', async () => {
    const world = new SurfaceWorld();
    const both = '{"surface":{"id":"Counter","name":"Counter"}}';
    await world.render(ADA, QUOTE);
    world.platform.rendered = (answer) => ({ ...answer, body: both });
    await world.render(ADA, COUNTER_BY_NAME);
    world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: both }));
    await world.act(ADA, COUNTER_BY_NAME);
    world.upstream.willAnswer(world.platform.answer);
    expect([(await world.render(ADA, QUOTE)).cache, (await world.render(ADA, COUNTER_BY_NAME)).cache]).toEqual([
      'HIT',
      'MISS',
    ]);
  });

  it('on a surface with two ids changes the renders by either', async () => {
    const world = new SurfaceWorld();
    const body = '{"surface":{"id":"counter-7","name":"Counter"}}';
    world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }));
    await world.render(ADA, COUNTER);
    await world.act(ADA, { by: 'id', value: 'counter-7' });
    expect((await world.render(ADA, COUNTER)).cache).toBe('MISS');
  });

  it('invalidates only its surface when the reply has the other name', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, QUOTE);
    await world.act(ADA, COUNTER_BY_NAME);
    expect((await world.render(ADA, QUOTE)).cache).toBe('HIT');
  });

  it('on a surface named like the id of another invalidates the right one', async () => {
    const world = new SurfaceWorld();
    const names = new Map([
      ['/api/surfaces/one/render', '{"surface":{"id":"one","name":"first"}}'],
      ['/api/surfaces/by-name/one/render', '{"surface":{"id":"two","name":"one"}}'],
    ]);
    world.upstream.willAnswer(({ path }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: names.get(path.replace('actions/add', 'render')) ?? '{}',
    }));
    const [byId, byName] = [{ by: 'id', value: 'one' } as const, { by: 'name', value: 'one' } as const];
    for (const ref of [byId, byName]) await world.render(ADA, ref);
    await world.act(ADA, byId);
    expect([(await world.render(ADA, byId)).cache, (await world.render(ADA, byName)).cache]).toEqual(['MISS', 'HIT']);
  });

  it('on a renamed surface invalidates the render by the old name', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, COUNTER_BY_NAME);
    world.platform.rendered = (answer) => ({
      ...answer,
      body: '{"surface":{"id":"counter","name":"Meter"},"content":"x"}',
    });
    await world.render(ADA, COUNTER);
    await world.act(ADA, COUNTER);
    expect((await world.render(ADA, COUNTER_BY_NAME)).cache).toBe('MISS');
  });

  it.each([
    ['fails', { status: 500, headers: {}, body: null }, 'upstream_error'],
    ['is redirected', { status: 302, headers: {}, body: null }, 'upstream_redirect'],
    ['times out', { kind: 'failure' as const, reason: 'timeout' as const, log: 'late' }, 'upstream_timeout'],
  ])('that %s invalidates the renders, as it may have succeeded', async (_what, answer, code) => {
    const world = new SurfaceWorld();
    await world.render();
    world.upstream.willAnswer(() => answer);
    await expect(world.act()).rejects.toMatchObject({ code });
    world.upstream.willAnswer(world.platform.answer);
    expect((await world.render()).cache).toBe('MISS');
  });

  it.each([200, 202, 400, 409, 422])('with the status %i invalidates the renders', async (status) => {
    const world = new SurfaceWorld();
    await world.render();
    const headers = { 'content-type': 'application/json', 'set-cookie': 'a=b' };
    world.upstream.willAnswer(() => ({ status, headers, body: '{"error":{"fields":["a"]}}' }));
    const response = await world.act();
    expect([response.status, await bodyOf(response), response.headers['set-cookie']]).toEqual([
      status,
      '{"error":{"fields":["a"]}}',
      undefined,
    ]);
    world.upstream.willAnswer(world.platform.answer);
    expect((await world.render()).cache).toBe('MISS');
  });

  it('with a long reply invalidates the renders and returns the reply unchanged', async () => {
    const world = new SurfaceWorld();
    await world.render(ADA, QUOTE);
    const [{ until, release }, length] = [held(), 1_048_577];
    world.upstream.willAnswer(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: (async function* () {
        yield new Uint8Array(length).fill(0x20);
        await until;
        yield new TextEncoder().encode('{}');
      })(),
    }));
    const response = await world.act();
    world.upstream.willAnswer(world.platform.answer);
    expect([(await world.render(ADA, QUOTE)).cache, (await world.render(ADA, QUOTE)).cache]).toEqual(['MISS', 'HIT']);
    release();
    expect(await bodyOf(response)).toHaveLength(length + 2);
    expect((await world.render(ADA, QUOTE)).cache).toBe('MISS');
  });

  it('with a streamed response invalidates the renders made meanwhile', async () => {
    const world = new SurfaceWorld();
    const { until, release } = held();
    world.upstream.willAnswer(() => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        yield new TextEncoder().encode('data: working\n\n');
        await until;
        yield new TextEncoder().encode('data: done\n\n');
      })(),
    }));
    const response = await world.act();
    world.upstream.willAnswer(world.platform.answer);
    await world.render();
    expect((await world.render()).cache).toBe('HIT');
    release();
    expect(await bodyOf(response)).toBe('data: working\n\ndata: done\n\n');
    expect((await world.render()).cache).toBe('MISS');
  });
});

describe('an action', () => {
  it.each([null, 'done', Uint8Array.of(0x64)])(
    'returns a response that is not a stream unchanged (%#)',
    async (body) => {
      const world = new SurfaceWorld();
      world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'text/plain' }, body }));
      expect((await world.act()).body).toBe(body);
    },
  );

  it('does not parse the response without a cache', async () => {
    const world = new SurfaceWorld();
    const body = '{"ok":true}';
    world.upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }));
    const answers = [
      await world.act(user('ada', '')),
      await world.service.action(COUNTER, 'add', request(), ADA, undefined),
    ];
    expect(answers.map((answer) => answer.body)).toEqual([body, body]);
  });

  it('is sent unchanged with its idempotency key and not cached', async () => {
    const world = new SurfaceWorld();
    const visit = { body: '{"by":1}', headers: { 'idempotency-key': 'once' }, query: '?dry=1' };
    await world.act(ADA, COUNTER_BY_NAME, visit);
    await world.act(ADA, COUNTER_BY_NAME, visit);
    expect(world.platform.calls.action).toBe(2);
    expect(world.upstream.requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/surfaces/by-name/Counter/actions/add?dry=1',
      body: new TextEncoder().encode('{"by":1}'),
      headers: { 'idempotency-key': 'once', 'content-type': 'application/json', authorization: 'Bearer ada-token' },
    });
  });

  it('is repeated only after a 401', async () => {
    const world = new SurfaceWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason: 'reset', log: 'socket hang up' }));
    await expect(world.act(SERVICE)).rejects.toMatchObject({ code: 'upstream_unreachable', retryable: false });
    expect(world.upstream.requests).toHaveLength(1);
    let count = 0;
    world.upstream.willAnswer(() => {
      count += 1;
      return { status: count === 1 ? 401 : 200, headers: {}, body: null };
    });
    expect((await world.act(SERVICE)).status).toBe(200);
    expect(count).toBe(2);
  });
});

describe('a render during an action', () => {
  it.each([
    ['not cached', 'in this process', false, false],
    ['not cached', 'in another', true, false],
    ['not shared with later visitors', 'in this process', false, true],
    ['not shared with later visitors', 'in another', true, true],
  ])('is %s %s', async (_what, _where, isElsewhere, hasVisitors) => {
    const world = new SurfaceWorld();
    const rendering = isElsewhere ? world.newCache() : world.cache;
    const { until, release } = held();
    world.platform.holds.render.push(until);
    const early = world.render(ADA, COUNTER, {}, rendering);
    while (world.platform.calls.render === 0) await Promise.resolve();
    await world.act();
    if (hasVisitors) expect((await world.render(ADA, COUNTER, {}, rendering)).content).toBe('counter v1 s1 for ada');
    release();
    expect((await early).content).toBe('counter v1 s0 for ada');
    for (const cache of [rendering, world.cache]) {
      expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s1 for ada');
    }
  });

  it('is not cached when it began before the action ended', async () => {
    const world = new SurfaceWorld();
    await world.render();
    const { until, release } = held();
    world.platform.holds.action.push(until);
    const action = world.act();
    while (world.platform.calls.action === 0) await Promise.resolve();
    world.clock.advance(300_000);
    expect((await world.render()).content).toBe('counter v1 s0 for ada');
    release();
    await action;
    expect((await world.render()).content).toBe('counter v1 s1 for ada');
  });

  it('is not cached when a revalidation finds it unchanged', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    const elsewhere = world.newCache();
    world.upstream.willAnswer(async (request) => {
      if (request.method === 'GET') await world.act(ADA, COUNTER, {}, elsewhere);
      return world.platform.answer(request);
    });
    expect((await world.render()).cache).toBe('REVALIDATED');
    expect((await world.render()).content).toBe('counter v1 s1 for ada');
  });
});

describe('two processes with concurrent actions', () => {
  it('both invalidate the renders', async () => {
    const world = new SurfaceWorld();
    const [one, other] = [world.newCache(), world.newCache()];
    await world.render(ADA, COUNTER, {}, one);
    await Promise.all([world.act(ADA, COUNTER, {}, one), world.act(ADA, COUNTER, {}, other)]);
    for (const cache of [one, other, world.cache]) {
      expect((await world.render(ADA, COUNTER, {}, cache)).content).toBe('counter v1 s2 for ada');
    }
  });
});
