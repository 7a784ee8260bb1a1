import { describe, expect, it } from 'vitest';
import { SingleFlight } from '../../../src/domain/shared/single-flight.js';

describe('a single flight', () => {
  it('runs once for all concurrent callers, and again afterwards', async () => {
    const flights = new SingleFlight<number>();
    let runs = 0;
    const work = async (): Promise<number> => {
      runs += 1;
      return Promise.resolve(runs);
    };
    const first = flights.run('a', work);
    expect(flights.running('a')).toBe(first);
    expect(await Promise.all([first, flights.run('a', work), flights.run('b', work)])).toEqual([1, 1, 2]);
    expect(flights.running('a')).toBeUndefined();
    expect(await flights.run('a', work)).toBe(3);
  });

  it('rejects for all callers on failure, and runs again for the next', async () => {
    const flights = new SingleFlight<string>();
    const failing = [
      flights.run('a', () => Promise.reject(new Error('down'))),
      flights.run('a', () => Promise.resolve('unused')),
    ];
    expect(await Promise.allSettled(failing)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(await flights.run('a', () => Promise.resolve('up'))).toBe('up');
  });
});
