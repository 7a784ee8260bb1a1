import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CacheStore } from '../../../src/ports/cache-store.js';
import type { RenderCache } from '../../../src/domain/surfaces/render-cache.js';
import { COUNTER, SurfaceWorld, user } from './surface-world.js';
import { held } from './widget-platform.js';

const ADA = user('ada');

/** One process's connection to the store that all share: what it writes may be lost, and what it reads may be missing. */
class Connection implements CacheStore {
  losesWrites = false;
  losesReads = false;
  losesRemovals = false;
  readonly #store: CacheStore;

  constructor(store: CacheStore) {
    this.#store = store;
  }

  set isDown(isDown: boolean) {
    this.losesWrites = isDown;
    this.losesReads = isDown;
    this.losesRemovals = isDown;
  }

  async get(key: string): Promise<string | undefined> {
    return this.losesReads ? undefined : this.#store.get(key);
  }

  async set(key: string, value: string, expiresAt: number): Promise<void> {
    if (!this.losesWrites) await this.#store.set(key, value, expiresAt);
  }

  async delete(key: string): Promise<void> {
    if (!this.losesRemovals) await this.#store.delete(key);
  }
}

/** Two processes of one site, each with its own connection to the store. */
class TwoProcesses extends SurfaceWorld {
  readonly connections = [new Connection(this.store), new Connection(this.store)] as const;
  readonly processes: readonly [RenderCache, RenderCache] = [
    this.newCache({}, this.connections[0]),
    this.newCache({}, this.connections[1]),
  ];

  show(process: 0 | 1): ReturnType<SurfaceWorld['render']> {
    return this.render(ADA, COUNTER, {}, this.processes[process]);
  }

  async actIn(process: 0 | 1): Promise<void> {
    await this.act(ADA, COUNTER, {}, this.processes[process]);
  }

  /** Runs what the processes put off until now. */
  async catchUp(): Promise<void> {
    for (const task of this.later.splice(0)) task();
    // What they do with a store in memory is over within one turn of the event loop.
    await new Promise(setImmediate);
  }
}

describe('an action whose mark the store did not take', () => {
  it('is told to the other processes as soon as the store takes it, without any visitor', async () => {
    const world = new TwoProcesses();
    const [acting] = world.connections;
    await world.show(1);
    acting.isDown = true;
    await world.actIn(0);
    await world.catchUp();
    // The limit: nobody can know what the store was not told.
    expect(await world.show(1)).toMatchObject({ cache: 'HIT', content: 'counter v1 s0 for ada' });
    acting.isDown = false;
    await world.catchUp();
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });

  it('is told by a store that is full, which takes nothing and removes what it has', async () => {
    const world = new TwoProcesses();
    await world.show(1);
    for (const connection of world.connections) connection.losesWrites = true;
    await world.actIn(0);
    await world.catchUp();
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });

  it('is forgotten when every render from before is too old anyway', async () => {
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

  it('is told once, however many actions were lost meanwhile', async () => {
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
  it('believes no render from before, since actions may be missing in it', async () => {
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

  it('keeps no render that was under way', async () => {
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
    expect(await world.show(1)).toMatchObject({ cache: 'MISS', content: 'counter v1 s1 for ada' });
  });
});

type Step =
  | { readonly kind: 'render' | 'act'; readonly process: 0 | 1 }
  | { readonly kind: 'connection'; readonly process: 0 | 1; readonly isDown: boolean }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'recover' };

const process = fc.constantFrom(0 as const, 1 as const);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('render' as const, 'act' as const), process }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('connection' as const), process, isDown: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 2_999, 3_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'recover' as const }) },
);

async function follow(script: readonly Step[]): Promise<void> {
  const world = new TwoProcesses();
  let acted = 0;
  // Which action each process must know of at least.
  const known = [0, 0];
  const seen = async (shown: 0 | 1): Promise<number> => Number(/ s(\d+) /.exec((await world.show(shown)).content)?.[1]);
  for (const step of [...script, { kind: 'recover' } as const]) {
    if (step.kind === 'advance') world.clock.advance(step.ms);
    else if (step.kind === 'connection') world.connections[step.process].isDown = step.isDown;
    else if (step.kind === 'act') {
      await world.actIn(step.process);
      acted += 1;
      known[step.process] = acted;
      if (world.connections.every(({ losesWrites }) => !losesWrites) && world.later.length === 0) known.fill(acted);
    } else if (step.kind === 'render') {
      expect(await seen(step.process)).toBeGreaterThanOrEqual(known[step.process] ?? 0);
    } else {
      for (const connection of world.connections) connection.isDown = false;
      await world.catchUp();
      expect(world.later).toEqual([]);
      for (const shown of [0, 1] as const) expect(await seen(shown)).toBe(acted);
      known.fill(acted);
    }
  }
}

describe('whatever connections to the store break, and whenever', () => {
  it('a process never shows less than its own actions did, and all of them agree when the store is back', async () => {
    await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 20 }), follow), { numRuns: 1_000 });
  }, 120_000);
});
