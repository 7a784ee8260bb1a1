import { describe, expect, it } from 'vitest';
import { COUNTER, user } from './surface-world.js';
import { TwoProcesses } from './two-processes.js';
import { held } from './widget-platform.js';

const ADA = user('ada');

describe('an action with a lost version tag', () => {
  it('is shared with other processes once the store recovers, without another request', async () => {
    const world = new TwoProcesses();
    const [acting] = world.connections;
    await world.show(1);
    acting.isDown = true;
    await world.actIn(0);
    await world.catchUp();
    // The limitation: other processes cannot know of an action that the store did not receive.
    expect(await world.show(1)).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    acting.isDown = false;
    await world.catchUp();
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });

  it('is shared through a store that rejects writes, by deleting entries', async () => {
    const world = new TwoProcesses();
    await world.show(1);
    for (const connection of world.connections) connection.losesWrites = true;
    await world.actIn(0);
    await world.catchUp();
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });

  it('is dropped once every earlier render has expired', async () => {
    const world = new TwoProcesses();
    world.connections[0].isDown = true;
    await world.actIn(0);
    for (const ms of [1_000, 298_999]) {
      world.clock.advance(ms);
      await world.catchUp();
      expect(world.later).toHaveLength(1);
    }
    world.clock.advance(1);
    await world.catchUp();
    expect(world.later).toEqual([]);
  });

  it('disables the cache of its process until then', async () => {
    const world = new TwoProcesses();
    world.connections[0].isDown = true;
    await world.actIn(0);
    world.clock.advance(299_999);
    expect((await world.show(0)).cache).toBe('BYPASS');
    world.clock.advance(1);
    expect((await world.show(0)).cache).toBe('MISS');
  });

  it('is written once for any number of lost actions', async () => {
    const world = new TwoProcesses();
    world.connections[0].isDown = true;
    for (let count = 0; count < 3; count += 1) await world.actIn(0);
    expect(world.later).toHaveLength(1);
    world.connections[0].isDown = false;
    const { set } = world.store.calls;
    await world.catchUp();
    expect(world.store.calls.set - set).toBe(1);
    expect(world.later).toEqual([]);
  });
});

describe('a process that saw the store fail', () => {
  it('ignores earlier renders, as they may lack an action', async () => {
    const world = new TwoProcesses();
    await world.show(1);
    world.clock.advance(1);
    for (const connection of world.connections) connection.isDown = true;
    await world.actIn(0);
    await world.show(1);
    for (const connection of world.connections) connection.isDown = false;
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
    expect(await world.show(1)).toMatchObject({ cache: 'HIT', content: 'counter v1 s1 for ada' });
  });

  it('does not cache a running render', async () => {
    const world = new TwoProcesses();
    const { until, release } = held();
    world.platform.holds.render.push(until);
    const early = world.show(1);
    while (world.platform.calls.render === 0) await Promise.resolve();
    world.clock.advance(1);
    for (const connection of world.connections) connection.isDown = true;
    await world.actIn(0);
    await world.render(ADA, { by: 'id', value: 'quote' }, {}, world.processes[1]);
    for (const connection of world.connections) connection.isDown = false;
    release();
    expect((await early).content).toBe('counter v1 s0 for ada');
    // Nor in a process that noticed nothing.
    const elsewhere = await world.render(ADA, COUNTER, {}, world.newCache());
    expect(elsewhere).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
    expect(await world.show(1)).toMatchObject({ content: 'counter v1 s1 for ada' });
  });
});
