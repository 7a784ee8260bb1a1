import { describe, expect, it } from 'vitest';
import { FleetFlight } from '../../../src/domain/upstream/fleet-flight.js';
import { VirtualTime } from '../../support/virtual-time.js';

/** One process, and what it reads in the store: the lease of another one, and its result. */
class Follower {
  readonly time = new VirtualTime();
  readonly pauses: number[] = [];
  lease: () => string | undefined = () => undefined;
  found: () => string | undefined = () => undefined;
  /** True once the lease of the other process has expired. */
  isFree: () => boolean = () => false;
  readonly keys = new Set<string>();
  looks = 0;

  async join(name = 'work') {
    const startedAt = this.time.now();
    const flight = new FleetFlight({
      store: {
        get: (key) => Promise.resolve((this.keys.add(key), this.lease())),
        set: () => Promise.resolve(),
        delete: () => Promise.resolve(),
        setIfAbsent: () => Promise.resolve(this.isFree()),
      },
      clock: this.time,
      sleep: (ms) => (this.pauses.push(ms), this.time.sleep(ms)),
    });
    const look = (): Promise<string | undefined> => Promise.resolve(((this.looks += 1), this.found()));
    const { found, yieldTurn } = await this.time.result(flight.join(name, look));
    return { found, isMine: yieldTurn !== undefined, ms: this.time.now() - startedAt };
  }
}

describe('a process that waits for the work of another', () => {
  it('begins at once without reading if there is none', async () => {
    const follower = new Follower();
    follower.isFree = () => true;
    expect([await follower.join(), follower.looks]).toEqual([{ found: undefined, isMine: true, ms: 0 }, 0]);
  });

  it('looks for its result more and more rarely', async () => {
    const follower = new Follower();
    follower.lease = () => 'running';
    follower.found = () => (follower.looks === 8 ? 'result' : undefined);
    expect(await follower.join()).toEqual({ found: 'result', isMine: false, ms: 315 });
    expect(follower.pauses).toEqual([5, 10, 20, 40, 80, 80, 80]);
  });

  it.each([
    ['for a second if it cannot read the lease', undefined, 1_000, 1_080],
    ['for five seconds at most', 'running', 5_000, 5_080],
    ['no longer when there is nothing to share', 'nothing to share', 0, 0],
  ])('waits %s', async (_what, lease, least, most) => {
    const follower = new Follower();
    follower.lease = () => lease;
    const { ms, ...turn } = await follower.join();
    expect(turn).toEqual({ found: undefined, isMine: false });
    expect([ms >= least, ms <= most]).toEqual([true, true]);
  });

  it('begins itself when the lease has expired, after a last look', async () => {
    const follower = new Follower();
    follower.lease = () => 'running';
    follower.isFree = () => follower.looks === 3;
    expect([await follower.join(), follower.looks]).toEqual([{ found: undefined, isMine: true, ms: 35 }, 4]);
  });

  it('does not wait for work of another name', async () => {
    const follower = new Follower();
    follower.lease = () => 'nothing to share';
    for (const name of ['one', 'other']) await follower.join(name);
    expect(follower.keys.size).toBe(2);
  });
});
