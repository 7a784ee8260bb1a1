import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../../src/ports/http.js';
import { QUOTE, type Shown, user } from './surface-world.js';
import { actionsIn, Fleet, plain } from './two-processes.js';
import { held } from './widget-platform.js';

/** Processes whose platform takes a while for each call. */
class BusyFleet extends Fleet {
  callMs = 100;

  constructor(count = 8, ...rest: [settings?: ConstructorParameters<typeof Fleet>[1], kind?: typeof plain]) {
    super(count, ...rest);
    this.upstream.willAnswer(async (request) => {
      const answer = await this.platform.answer(request);
      await this.clock.sleep(this.callMs);
      return answer;
    });
  }

  /** The widget in every process at the same time. */
  showAll(): Promise<readonly Shown[]> {
    return this.clock.result(Promise.all(this.processes.map((_cache, index) => this.beginShow(index))));
  }

  /** The answers of `showAll` by their source. */
  async sources(): Promise<Readonly<Record<string, number>>> {
    const found: Record<string, number> = {};
    for (const { cache } of await this.showAll()) found[String(cache)] = (found[String(cache)] ?? 0) + 1;
    return found;
  }
}

describe('eight processes that share renders', () => {
  it('render a cold widget once', async () => {
    const fleet = new BusyFleet();
    expect([await fleet.sources(), fleet.asked]).toEqual([{ MISS: 1, HIT: 7 }, [1, 0]]);
  });

  it('render it once for all their visitors, and another widget meanwhile', async () => {
    const fleet = new BusyFleet(2);
    const quote = fleet.beginRender(user('ada'), QUOTE, {}, fleet.processes[1]);
    const startedAt = fleet.clock.now();
    await fleet.clock.result(Promise.all([quote, ...[0, 1, 1].map((process) => fleet.beginShow(process))]));
    expect([fleet.asked, fleet.clock.now() - startedAt < 300]).toEqual([[2, 0], true]);
  });

  it('check a stale widget once', async () => {
    const fleet = new BusyFleet();
    await fleet.showAll();
    fleet.clock.advance(3_000);
    expect([await fleet.sources(), fleet.asked]).toEqual([{ REVALIDATED: 1, HIT: 7 }, [1, 1]]);
  });

  it('check a widget again within a second of the last check, without waiting for that one', async () => {
    const fleet = new BusyFleet(2, { freshMs: 200 });
    await fleet.showAll();
    for (let check = 0; check < 2; check += 1) {
      fleet.clock.advance(200);
      const startedAt = fleet.clock.now();
      await fleet.show(0);
      expect([fleet.clock.now() - startedAt, fleet.asked]).toEqual([100, [1, check + 1]]);
    }
  });

  it('do not use the render of one that is connected to another primary', async () => {
    const fleet = new BusyFleet(2);
    for (const connection of fleet.connections.slice(1)) connection.server = 'replica';
    expect([await fleet.sources(), fleet.asked]).toEqual([{ MISS: 2 }, [2, 0]]);
  });

  it('render it once after an action in any of them', async () => {
    const fleet = new BusyFleet();
    await fleet.showAll();
    await fleet.actIn(3);
    expect((await fleet.showAll()).map(actionsIn)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    expect(fleet.asked).toEqual([2, 0]);
  });

  it('do not wait for a render that began before an action', async () => {
    const fleet = new BusyFleet(2);
    await fleet.showAll();
    fleet.clock.advance(300_000);
    const early = fleet.beginShow(0);
    await fleet.clock.pass(50);
    await fleet.actIn(1);
    expect(actionsIn(await fleet.show(1))).toBe(1);
    expect(actionsIn(await fleet.clock.result(early))).toBe(0);
  });

  it('each render what cannot be shared, without waiting for each other twice', async () => {
    const fleet = new BusyFleet();
    fleet.platform.rendered = (answer: HttpResponse) => ({
      ...answer,
      headers: { ...answer.headers, 'set-cookie': 'a=b' },
    });
    await fleet.showAll();
    const startedAt = fleet.clock.now();
    expect([await fleet.sources(), fleet.clock.now() - startedAt]).toEqual([{ MISS: 8 }, 100]);
  });

  it('each call a platform that failed for the first of them', async () => {
    const fleet = new BusyFleet();
    fleet.platform.isDown = true;
    const outcomes = fleet.processes.map((_cache, index) => fleet.beginShow(index).catch((error: unknown) => error));
    expect((await fleet.clock.result(Promise.all(outcomes))).every((outcome) => outcome instanceof Error)).toBe(true);
  });

  it('do not go back to the older render of a process that was suspended while it rendered', async () => {
    const fleet = new BusyFleet(3);
    const { until, release } = held();
    fleet.platform.holds.render.push(until);
    const suspended = fleet.beginShow(0);
    await fleet.clock.pass(1_100);
    fleet.platform.widgets.get('counter')!.version = 2;
    expect((await fleet.show(1)).content).toBe('counter v2 s0 for ada');
    fleet.clock.advance(3_000);
    release();
    await fleet.clock.pass(50);
    // One of them checks; the other finds the older render while it waits.
    const shown = await fleet.clock.result(Promise.all([suspended, fleet.beginShow(1), fleet.beginShow(2)]));
    expect(shown.map(({ content }) => content.slice(8, 10))).toEqual(['v1', 'v2', 'v2']);
  });

  it('wait a second for the only one that has called a slow platform', async () => {
    const fleet = new BusyFleet(2);
    fleet.callMs = 5_000;
    const startedAt = fleet.clock.now();
    await fleet.showAll();
    expect(fleet.asked).toEqual([2, 0]);
    expect(fleet.clock.now() - startedAt).toBeLessThan(6_200);
  });

  it('render once a second until the first render arrives', async () => {
    const fleet = new BusyFleet();
    fleet.callMs = 3_000;
    expect([await fleet.sources(), fleet.asked]).toEqual([{ MISS: 3, HIT: 5 }, [3, 0]]);
  });

  it('render within ten seconds without waiting again, after a render that cannot be shared', async () => {
    const fleet = new BusyFleet(3);
    fleet.platform.rendered = (answer: HttpResponse) => ({
      ...answer,
      headers: { ...answer.headers, 'set-cookie': 'a=b' },
    });
    await fleet.show(0);
    const waits = async (): Promise<number> => {
      const startedAt = fleet.clock.now();
      await fleet.showAll();
      return fleet.clock.now() - startedAt;
    };
    await fleet.clock.pass(9_800);
    expect(await waits()).toBe(100);
    await fleet.clock.pass(100);
    // One of them renders, and the others wait for it.
    expect(await waits()).toBeGreaterThan(200);
  });

  it('render once if the platform takes almost the second for which they wait', async () => {
    const fleet = new BusyFleet();
    // The lease has expired when they look for the result the next time.
    fleet.callMs = 980;
    expect([await fleet.sources(), fleet.asked]).toEqual([{ MISS: 1, HIT: 7 }, [1, 0]]);
  });

  it('each render once if their store cannot create an entry atomically', async () => {
    const fleet = new BusyFleet(8, {}, plain);
    await fleet.showAll();
    expect(fleet.asked).toEqual([8, 0]);
    expect(await fleet.sources()).toEqual({ HIT: 8 });
  });
});
