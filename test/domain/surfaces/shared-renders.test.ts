import { describe, expect, it } from 'vitest';
import { SERVICE } from '../credentials/broker-fixture.js';
import { COUNTER, type Shown, streamOf, SurfaceWorld, user } from './surface-world.js';
import { actionsIn, Fleet, plain } from './two-processes.js';
import { held } from './widget-platform.js';

const ADA = user('ada');

describe('many concurrent visitors', () => {
  it('cause one render for 200 visitors', async () => {
    const world = new SurfaceWorld();
    const shown = await Promise.all(Array.from({ length: 200 }, () => world.render(SERVICE)));
    expect(world.asked).toEqual([1, 0]);
    expect(new Set(shown.map(({ content }) => content)).size).toBe(1);
  });

  it('cause one render per user for 20 users', async () => {
    const world = new SurfaceWorld();
    const names = Array.from({ length: 200 }, (_, index) => `user${String(index % 20)}`);
    const shown = await Promise.all(names.map((name) => world.render(user(name))));
    expect(world.asked).toEqual([20, 0]);
    expect(shown.map(({ content }) => content)).toEqual(names.map((name) => `counter v1 s0 for ${name}`));
  });

  it.each([
    ['the store responds', {}],
    ['the store is away', { isAway: true }],
  ])('join a render that runs already while %s', async (_when, state) => {
    const fleet = new Fleet(1, {}, plain);
    fleet.all = state;
    const { until, release } = held();
    fleet.platform.holds.render.push(until);
    const first = fleet.beginShow(0);
    await fleet.clock.pass(0);
    const later = fleet.beginShow(0);
    await fleet.clock.pass(0);
    release();
    expect([actionsIn(await first), actionsIn(await later), fleet.asked]).toEqual([0, 0, [1, 0]]);
  });

  it('cause one revalidation', async () => {
    const world = new SurfaceWorld();
    await world.render();
    world.clock.advance(3_000);
    const shown = await Promise.all(Array.from({ length: 50 }, () => world.render()));
    expect([world.asked, new Set(shown.map(({ cache }) => cache))]).toEqual([[1, 1], new Set(['REVALIDATED'])]);
  });

  it('all receive the error of one call when the platform is down', async () => {
    const world = new SurfaceWorld();
    world.platform.isDown = true;
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => world.render()));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(world.asked).toEqual([1, 0]);
  });

  it('do not share an uncacheable response', async () => {
    const world = new SurfaceWorld();
    let count = 0;
    world.platform.rendered = (answer) => {
      count += 1;
      return { ...answer, headers: { ...answer.headers, 'set-cookie': 'a=b' }, body: String(count) };
    };
    const shown = await Promise.all(Array.from({ length: 5 }, () => world.render()));
    expect(new Set(shown.map(({ content }) => content)).size).toBe(5);
    expect(shown.map(({ cache }) => cache)).toEqual(['MISS', 'BYPASS', 'BYPASS', 'BYPASS', 'BYPASS']);
  });

  it.each([
    ['is too long to be cached', streamOf('12345', '67890')],
    ['is not text', Uint8Array.of(0x7b, 0xff)],
  ])('do not share a response that %s', async (_what, body) => {
    const world = new SurfaceWorld({ maxEntryBytes: 8 });
    world.platform.rendered = (answer) => ({ ...answer, body });
    const shown = await Promise.all([world.render(), world.render()]);
    expect(shown.map(({ cache }) => cache)).toEqual(['MISS', 'BYPASS']);
    expect(shown[1]?.content).toBe(shown[0]?.content);
  });

  it('cause one write of the version tag for a shared render', async () => {
    const world = new SurfaceWorld();
    let count = 0;
    const cache = world.newCache({ newVersionTag: () => `tag ${String((count += 1))}` });
    await Promise.all(['1', '2', '3'].map((body) => world.render(ADA, COUNTER, { body }, cache)));
    expect(count).toBe(2);
  });

  it('get their render when the first of them disconnects', async () => {
    const world = new SurfaceWorld();
    const leaving = new AbortController();
    const first = world.render(ADA, COUNTER, { signal: leaving.signal });
    const second = world.render();
    leaving.abort();
    expect([(await first).cache, (await second).cache]).toEqual(['MISS', 'MISS']);
    expect(world.upstream.requests.map(({ signal }) => signal.aborted)).toEqual([false]);
  });
});

describe('renders of one process whose reads fail', () => {
  it('are one call to the platform when they come together', async () => {
    const fleet = new Fleet(1);
    fleet.all = { isDown: true };
    await Promise.all(Array.from({ length: 10 }, () => fleet.beginShow(0)));
    expect(fleet.platform.calls.render).toBe(1);
  });

  it('are joined unless 1,000 others began since: strangers cannot fill the memory', async () => {
    const count = 1_001;
    const fleet = new Fleet(1);
    fleet.all = { isDown: true };
    const { until, release } = held();
    fleet.platform.holds.render.push(...Array.from({ length: count }, () => until));
    const show = (number: number): Promise<Shown> =>
      fleet.beginRender(ADA, COUNTER, { body: String(number) }, fleet.processes[0]);
    const shown = Array.from({ length: count }, (_, number) => show(number));
    shown.push(show(0));
    await fleet.clock.pass(0);
    release();
    await Promise.all(shown);
    expect(fleet.platform.calls.render).toBe(count + 1);
  });

  it('do not wait for one that began before an action of another process', async () => {
    const fleet = new Fleet(2);
    Object.assign(fleet.connections[1] ?? {}, { isDown: true });
    let release: () => void = () => {};
    fleet.platform.holds.render.push(new Promise((resolve) => (release = resolve)));
    const earlier = fleet.beginShow(1);
    await fleet.clock.pass(0);
    await fleet.actIn(0);
    const later = fleet.beginShow(1);
    await fleet.clock.pass(0);
    release();
    expect([actionsIn(await earlier), actionsIn(await later)]).toEqual([0, 1]);
  });
});
