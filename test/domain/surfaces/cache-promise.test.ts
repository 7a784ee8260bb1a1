import { describe, expect, it } from 'vitest';
import {
  BOTH,
  BY_ID,
  BY_NAME,
  CacheFleet,
  type ConnectionState,
  FRESH_MS,
  MAX_AGE_MS,
  type SiteProcess,
} from './cache-fleet.js';

/** Pseudo-random numbers from 0 up to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A held render of the platform; the returned function ends it. */
function hold({ platform }: CacheFleet): () => void {
  let end = (): void => undefined;
  platform.gate = new Promise((resolve) => (end = resolve));
  return () => {
    platform.gate = undefined;
    end();
  };
}

describe('a render after an action', () => {
  it('is not an older one when a generation was evicted, whichever of the two', async () => {
    for (const which of [0, 1]) {
      const fleet = new CacheFleet();
      await fleet.warm();
      await fleet.run(fleet.one.act());
      await fleet.warm();
      await fleet.run(fleet.other.act());
      fleet.server.delete(String(fleet.server.keys('generation')[which]));
      for (const process of [fleet.one, fleet.other]) expect((await fleet.run(process.render()))[0]).toBe(2);
    }
  });

  it('is not an older one when it was rendered by name, and an action by id reports only one of them', async () => {
    for (const names of [{}, { id: BOTH.id }, { name: BOTH.name }]) {
      const fleet = new CacheFleet();
      await fleet.warm(BY_ID, BY_NAME);
      await fleet.run(fleet.one.act(BY_ID, names));
      for (const process of [fleet.one, fleet.other])
        for (const ref of [BY_ID, BY_NAME]) expect((await fleet.run(process.render(ref)))[0]).toBe(1);
    }
  });

  it('is not one that began before an action by the name it reports', async () => {
    const fleet = new CacheFleet();
    const end = hold(fleet);
    const early = fleet.one.render(BY_ID);
    await fleet.time.pass(1);
    await fleet.run(fleet.other.act(BY_NAME));
    end();
    expect((await fleet.run(early))[0]).toBe(0);
    for (const process of [fleet.one, fleet.other])
      expect(await fleet.run(process.render(BY_ID))).toEqual([1, process === fleet.one ? 'MISS' : 'HIT']);
  });

  it.each<ConnectionState>(['up', 'gone', 'silent', 'read only', 'full'])(
    'does not join one that began before, with the store %s',
    async (state) => {
      const fleet = new CacheFleet();
      await fleet.warm();
      fleet.server.restart('empty');
      const end = hold(fleet);
      const early = fleet.one.render();
      await fleet.time.pass(1);
      fleet.one.connection.state = state;
      await fleet.run(fleet.one.act());
      const later = fleet.one.render();
      await fleet.time.pass(1);
      end();
      expect((await fleet.run(early))[0]).toBe(0);
      expect((await fleet.run(later))[0]).toBe(1);
    },
  );

  it.each([40, 60, 400])('is new in the other process when each write takes %i ms', async (slowMs) => {
    const fleet = new CacheFleet();
    await fleet.warm();
    fleet.one.connection.slowMs = slowMs;
    fleet.one.connection.state = 'slow';
    void fleet.time.sleep(500).then(() => (fleet.one.connection.state = 'up'));
    await fleet.run(fleet.one.act());
    expect((await fleet.run(fleet.other.render()))[0]).toBe(1);
    await fleet.time.pass(1_000);
    for (const process of [fleet.one, fleet.other]) expect((await fleet.run(process.render()))[0]).toBe(1);
  });

  it('is older in others for at most the lifetime of a render, when the acting process cannot write', async () => {
    const fleet = new CacheFleet();
    await fleet.warm();
    fleet.one.connection.state = 'gone';
    await fleet.run(fleet.one.act());
    const actedAt = fleet.time.now();
    fleet.platform.isBlind = true;
    let seen = await fleet.run(fleet.other.render());
    expect(seen).toEqual([0, 'HIT']);
    while (seen[0] === 0) {
      expect(fleet.time.now() - actedAt).toBeLessThan(MAX_AGE_MS);
      expect((await fleet.run(fleet.one.render()))[0]).toBe(1);
      await fleet.time.pass(FRESH_MS / 2);
      seen = await fleet.run(fleet.other.render());
    }
    expect(seen[0]).toBe(1);
  });

  it('is new everywhere half a second after the acting process can write again', async () => {
    const fleet = new CacheFleet();
    await fleet.warm();
    fleet.one.connection.state = 'gone';
    await fleet.run(fleet.one.act());
    expect(await fleet.run(fleet.other.render())).toEqual([0, 'HIT']);
    fleet.one.connection.state = 'up';
    await fleet.time.pass(500);
    expect((await fleet.run(fleet.other.render()))[0]).toBe(1);
    expect(await fleet.run(fleet.one.render())).toEqual([1, 'HIT']);
  });

  it('is older for at most its lifetime when the store restarts from a snapshot', async () => {
    const fleet = new CacheFleet();
    await fleet.warm();
    fleet.server.save();
    await fleet.run(fleet.one.act());
    fleet.server.restart('snapshot');
    expect(await fleet.run(fleet.other.render())).toEqual([0, 'HIT']);
    await fleet.time.pass(MAX_AGE_MS);
    expect((await fleet.run(fleet.other.render()))[0]).toBe(1);
  });

  it('is not an older one when a write that timed out lands later', async () => {
    const fleet = new CacheFleet();
    await fleet.warm();
    Object.assign(fleet.other.connection, { state: 'slow', slowMs: 5_000 });
    const late = fleet.other.act();
    await fleet.time.pass(200);
    fleet.other.connection.state = 'up';
    await fleet.run(late);
    await fleet.run(fleet.one.act());
    for (let waitedMs = 0; waitedMs < 6_000; waitedMs += 500) {
      for (const process of [fleet.one, fleet.other]) expect((await fleet.run(process.render()))[0]).toBe(2);
      await fleet.time.pass(500);
    }
  });

  it.each([600_000, -600_000])('is not an older one with a clock that is %i ms ahead', async (skewMs) => {
    const fleet = new CacheFleet();
    fleet.one.skewMs = skewMs;
    for (let round = 0; round < 20; round += 1) {
      await fleet.warm();
      const actor = round % 2 === 0 ? fleet.one : fleet.other;
      const acted = await fleet.run(actor.act());
      for (const process of [fleet.one, fleet.other]) expect((await fleet.run(process.render()))[0]).toBe(acted);
      await fleet.time.pass(700);
    }
    // A render is checked again although its clock says that it was just now.
    fleet.platform.state += 1;
    await fleet.time.pass(FRESH_MS);
    for (const process of [fleet.one, fleet.other])
      expect((await fleet.run(process.render()))[0]).toBe(fleet.platform.state);
  });

  it('is not an older one while more than 10,000 generations are owed', async () => {
    const fleet = new CacheFleet();
    await fleet.warm();
    fleet.one.connection.state = 'gone';
    const many = Array.from({ length: 10_000 }, (_, n) =>
      fleet.one.act({ by: 'id', value: `v-${String(n)}` }, { name: 'N' }),
    );
    const all = Promise.all([...many, fleet.one.act()]);
    // None of them tries twice.
    fleet.time.advance(1_000);
    await fleet.run(all);
    fleet.one.connection.state = 'up';
    expect((await fleet.run(fleet.one.render()))[1]).toBe('MISS');
  });

  it('is promised in 10,000 random histories of two processes and their store', { timeout: 10_000 }, async () => {
    const random = seeded(68);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    let fleet = new CacheFleet();
    let checks = 0;
    let hits = 0;
    /** The last action of each process. */
    let own = new Map<SiteProcess, number>();
    let lateUntil = -Infinity;
    let acted = 0;
    const reset = (): void => {
      fleet = new CacheFleet();
      own = new Map([fleet.one, fleet.other].map((process) => [process, 0]));
      lateUntil = -Infinity;
      acted = 0;
    };
    reset();
    while (checks < 10_000) {
      const processes = [fleet.one, fleet.other];
      const actor = pick(processes);
      const { connection } = actor;
      const event = random();
      if (event < 0.06) {
        connection.state = pick<ConnectionState>(['up', 'up', 'up', 'slow', 'gone', 'silent', 'read only', 'full']);
        connection.slowMs = pick([20, 60, 300]);
      } else if (event < 0.07) fleet.server.restart('empty');
      else if (event < 0.09)
        for (const key of fleet.server.keys('generation')) if (random() < 0.5) fleet.server.delete(key);
      if (event > 0.97) await fleet.time.pass(pick([100, 700, FRESH_MS]));
      if (event > 0.995) {
        reset();
        continue;
      }
      if (random() < 0.15) {
        const ref = pick([BY_ID, BY_NAME]);
        const number = await fleet.run(actor.act(ref, pick([BOTH, {}, { id: BOTH.id }])));
        own.set(actor, number);
        const couldWrite = connection.state === 'up' || (connection.state === 'slow' && connection.slowMs <= 50);
        if (couldWrite) acted = number;
        else lateUntil = fleet.time.now() + MAX_AGE_MS;
      }
      for (const process of [fleet.one, fleet.other]) {
        if (random() < 0.4) continue;
        const askedAt = fleet.time.now();
        const [state, status] = await fleet.run(process.render(pick([BY_ID, BY_NAME])));
        checks += 1;
        if (status === 'HIT') hits += 1;
        expect(state).toBeGreaterThanOrEqual(own.get(process) ?? 0);
        const floor = askedAt < lateUntil ? acted : fleet.platform.state;
        expect(state).toBeGreaterThanOrEqual(floor);
      }
    }
    // Otherwise the histories would show nothing.
    expect(hits / checks).toBeGreaterThan(0.2);
  });
});
