import { describe, expect, it } from 'vitest';
import { FakeCacheStore, FakeClock } from '../../../src/adapters/fakes/fakes.js';
import { COUNTER, type Shown, user } from './surface-world.js';
import { actionsIn, type Connection, Fleet, plain } from './two-processes.js';
import { held } from './widget-platform.js';
import { memoryOf } from '../../support/memory.js';

const ADA = user('ada');

function connectionOf({ connections }: Fleet, process: number): Connection {
  const connection = connections[process];
  if (connection === undefined) throw new Error('there is no such process');
  return connection;
}

describe('an action whose version tag the store does not accept', () => {
  it('gets its response after a second, and the tag is written once the store is back', async () => {
    const fleet = new Fleet(2);
    await fleet.show(1);
    connectionOf(fleet, 0).isDown = true;
    const before = fleet.clock.now();
    await fleet.actIn(0);
    expect(fleet.clock.now() - before).toBe(1_000);
    // The limit of invalidation: the other process cannot know of it.
    expect(await fleet.show(1)).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    fleet.all = { isDown: false };
    await fleet.clock.pass(500);
    expect(await fleet.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
    expect(fleet.clock.waiting).toBe(0);
  });

  it('waits for a store that is slow for a moment, and no process serves an older render after its response', async () => {
    const fleet = new Fleet(2);
    await fleet.show(1);
    fleet.all = { writeMs: 200 };
    const acting = fleet.beginActIn(0);
    await fleet.clock.pass(300);
    fleet.all = { writeMs: 0 };
    await fleet.clock.result(acting);
    expect(actionsIn(await fleet.show(1))).toBe(1);
  });

  it('is shared through a full store, by deleting entries', async () => {
    const fleet = new Fleet(2);
    await fleet.show(1);
    fleet.all = { losesWrites: true };
    await fleet.actIn(0);
    expect(fleet.clock.waiting).toBe(0);
    expect(await fleet.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });

  it('is dropped once every earlier render has expired', async () => {
    const fleet = new Fleet(1);
    fleet.all = { isDown: true };
    await fleet.actIn(0);
    await fleet.clock.pass(299_500);
    expect(fleet.clock.waiting).toBe(1);
    await fleet.clock.pass(1_000);
    expect(fleet.clock.waiting).toBe(0);
  });

  it('is written once for any number of actions', async () => {
    const fleet = new Fleet(1);
    fleet.all = { isDown: true };
    for (let count = 0; count < 3; count += 1) await fleet.actIn(0);
    expect(fleet.clock.waiting).toBe(1);
    fleet.all = { isDown: false };
    const { set } = fleet.store.calls;
    await fleet.clock.pass(1_000);
    expect([fleet.store.calls.set - set, fleet.clock.waiting]).toEqual([1, 0]);
  });
});

describe('a write that timed out and lands later', () => {
  it.each([
    ['with', undefined],
    ['without', plain],
  ])('does not bring back renders from before an action, %s setIfAbsent', async (_name, kind) => {
    const fleet = new Fleet(3, {}, kind);
    const creating = connectionOf(fleet, 0);
    creating.writeMs = 250;
    const { until, release } = held();
    fleet.platform.holds.render.push(until);
    const early = fleet.beginShow(0);
    await fleet.clock.pass(60);
    await fleet.actIn(1);
    await fleet.clock.pass(200);
    creating.writeMs = 0;
    release();
    expect(actionsIn(await fleet.clock.result(early))).toBe(0);
    expect(actionsIn(await fleet.show(2))).toBe(1);
  });

  it('of an action does not bring back renders from before the next one', async () => {
    const fleet = new Fleet(2);
    await fleet.show(1);
    connectionOf(fleet, 0).writeMs = 400;
    const first = fleet.beginActIn(0);
    await fleet.clock.pass(410);
    await fleet.show(1);
    await fleet.actIn(1);
    await fleet.clock.pass(200);
    expect(actionsIn(await fleet.show(1))).toBe(2);
    await fleet.clock.result(first);
  });
});

describe('a widget that gets another name', () => {
  it('has no older render after an action, although a process was slow to store its former name', async () => {
    const fleet = new Fleet(2);
    const tally = { by: 'name', value: 'Tally' } as const;
    const showTally = (): Promise<Shown> => fleet.render(ADA, tally, {}, fleet.processes[1]);
    const { until, release } = held();
    fleet.platform.holds.render.push(until);
    const slow = fleet.beginShow(0);
    await fleet.clock.pass(1);
    fleet.platform.rename('counter', 'Tally');
    await showTally();
    connectionOf(fleet, 0).writeMs = 40;
    release();
    await fleet.clock.pass(50);
    await showTally();
    await fleet.clock.result(slow);
    await fleet.actIn(1);
    expect(actionsIn(await showTally())).toBe(1);
  });
});

describe('a read that fails', () => {
  it('is one miss: earlier renders are hits again with the next request', async () => {
    const fleet = new Fleet(1);
    await fleet.show(0);
    fleet.all = { readMs: 100 };
    expect((await fleet.show(0)).cache).toBe('MISS');
    fleet.all = { readMs: 0 };
    expect([(await fleet.show(0)).cache, fleet.asked]).toEqual(['HIT', [2, 0]]);
  });

  it('delays its visitor by the time of that read only', async () => {
    const fleet = new Fleet(1);
    fleet.all = { readMs: 100 };
    const startedAt = fleet.clock.now();
    await fleet.show(0);
    expect(fleet.clock.now() - startedAt).toBe(50);
  });

  it('serves no render from memory, since another process may have run an action', async () => {
    const fleet = new Fleet(2);
    await fleet.show(0);
    await fleet.actIn(1);
    fleet.all = { readMs: 100 };
    expect(actionsIn(await fleet.show(0))).toBe(1);
  });
});

describe('a process whose store is away', () => {
  it('serves its last render while it is fresh, and then renders once per freshMs', async () => {
    const fleet = new Fleet(1);
    await fleet.show(0);
    fleet.all = { isAway: true };
    const seen: unknown[] = [];
    for (let second = 0; second < 9; second += 1) {
      seen.push((await fleet.show(0)).cache);
      fleet.clock.advance(1_000);
    }
    expect(seen).toEqual(['HIT', 'HIT', 'HIT', 'MISS', 'HIT', 'HIT', 'MISS', 'HIT', 'HIT']);
    expect(fleet.asked).toEqual([3, 0]);
  });

  it('serves it even after a failed read and a failed render', async () => {
    const fleet = new Fleet(1);
    await fleet.show(0);
    fleet.all = { readMs: 100 };
    fleet.platform.isDown = true;
    await fleet.show(0).catch(() => undefined);
    fleet.all = { isAway: true };
    expect((await fleet.show(0)).cache).toBe('HIT');
  });

  it('has no last render if that is larger than its memory', async () => {
    const fleet = new Fleet(1, { memory: memoryOf(new FakeClock(), 6_000) });
    fleet.platform.rendered = (answer) => ({ ...answer, body: 'x'.repeat(4_000) });
    await fleet.show(0);
    expect((await fleet.show(0)).cache).toBe('HIT');
    fleet.all = { isAway: true };
    expect((await fleet.show(0)).cache).toBe('MISS');
  });

  it('does not serve a render that is older than its own action', async () => {
    const fleet = new Fleet(1);
    await fleet.show(0);
    fleet.all = { isAway: true };
    await fleet.actIn(0);
    const shown = [await fleet.show(0), await fleet.show(0)];
    expect(shown.map(({ cache, content }) => [cache, content])).toEqual([
      ['MISS', 'counter v1 s1 for ada'],
      ['HIT', 'counter v1 s1 for ada'],
    ]);
  });

  it('does not serve a render that it knew to be invalidated by another process', async () => {
    const fleet = new Fleet(2);
    await fleet.show(0);
    await fleet.actIn(1);
    fleet.platform.isDown = true;
    await fleet.show(0).catch(() => undefined);
    fleet.platform.isDown = false;
    fleet.all = { isAway: true };
    expect(actionsIn(await fleet.show(0))).toBe(1);
  });

  it('does not join a render that began before its action', async () => {
    const fleet = new Fleet(1);
    fleet.all = { isAway: true };
    const { until, release } = held();
    fleet.platform.holds.render.push(until);
    const early = fleet.beginShow(0);
    while (fleet.platform.calls.render === 0) await Promise.resolve();
    await fleet.actIn(0);
    const later = fleet.beginShow(0);
    release();
    expect([
      actionsIn(await fleet.clock.result(early)),
      actionsIn(await fleet.clock.result(later)),
      actionsIn(await fleet.show(0)),
    ]).toEqual([0, 1, 1]);
  });

  it('does not store a render that other processes would serve', async () => {
    const fleet = new Fleet(2);
    fleet.all = { isAway: true };
    await fleet.show(0);
    fleet.all = { isAway: false };
    expect((await fleet.show(1)).cache).toBe('MISS');
  });
});

describe('another primary of the store', () => {
  it('may have lost an action: earlier renders are misses, in new processes too', async () => {
    const fleet = new Fleet(2);
    await fleet.show(0);
    expect((await fleet.show(1)).cache).toBe('HIT');
    // The replica has the renders and the tags from before the action.
    await fleet.act(ADA, COUNTER, {}, fleet.newCache({}, new FakeCacheStore(fleet.clock)));
    fleet.all = { server: 'replica' };
    expect([actionsIn(await fleet.show(1)), (await fleet.show(0)).cache, fleet.asked]).toEqual([1, 'HIT', [2, 0]]);
  });

  it('that takes over while a render is looked up leaves it uncached', async () => {
    const fleet = new Fleet(1);
    await fleet.show(0);
    fleet.all = { readMs: 10 };
    const shown = fleet.beginShow(0);
    await fleet.clock.pass(5);
    fleet.all = { server: 'replica' };
    expect((await fleet.clock.result(shown)).cache).toBe('MISS');
    fleet.all = { readMs: 0 };
    expect([(await fleet.show(0)).cache, (await fleet.show(0)).cache]).toEqual(['MISS', 'HIT']);
  });

  it('is known only once the process is connected, and does not leave a render uncached', async () => {
    const fleet = new Fleet(1);
    fleet.all = { readMs: 10, server: '' };
    const shown = fleet.beginShow(0);
    await fleet.clock.pass(5);
    fleet.all = { server: 'primary' };
    await fleet.clock.result(shown);
    expect((await fleet.show(0)).cache).toBe('HIT');
  });
});

describe('processes of two releases with different formats', () => {
  it('do not see the actions of each other; a check reports what it can', async () => {
    const fleet = new Fleet(1);
    const { store } = fleet;
    const other = (key: string): string => key.replace('agent-bff:1:', 'agent-bff:2:');
    const later = fleet.newCache(
      {},
      {
        get: (key) => store.get(other(key)),
        set: (key, value, expiresAt) => store.set(other(key), value, expiresAt),
        delete: (key) => store.delete(other(key)),
      },
    );
    const showLater = (): Promise<Shown> => fleet.render(ADA, COUNTER, {}, later);
    await showLater();
    await fleet.actIn(0);
    expect(await showLater()).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    fleet.clock.advance(3_000);
    fleet.platform.checked = { status: 200, headers: { etag: '"new"' }, body: '{}' };
    expect(await showLater()).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });
});

describe('processes whose clocks differ by two seconds', () => {
  it('serve a render unchecked for two seconds longer at most', async () => {
    const fleet = new Fleet(1);
    const ahead = { now: () => fleet.clock.now() + 2_000 };
    await fleet.render(ADA, COUNTER, {}, fleet.newCache({ clock: ahead }, fleet.connections[0]));
    fleet.clock.advance(4_999);
    expect((await fleet.show(0)).cache).toBe('HIT');
    fleet.clock.advance(1);
    expect((await fleet.show(0)).cache).toBe('REVALIDATED');
  });
});

it('version tags live a minute longer than a render', async () => {
  const fleet = new Fleet(1, { maxAgeMs: 120_000 });
  await fleet.show(0);
  fleet.clock.advance(100_000);
  await fleet.render(ADA, COUNTER, { body: '1' }, fleet.processes[0]);
  fleet.clock.advance(79_999);
  expect((await fleet.render(ADA, COUNTER, { body: '1' }, fleet.processes[0])).cache).toBe('REVALIDATED');
  fleet.clock.advance(1);
  expect((await fleet.render(ADA, COUNTER, { body: '1' }, fleet.processes[0])).cache).toBe('MISS');
});
