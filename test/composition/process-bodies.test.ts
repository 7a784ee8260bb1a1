import { describe, expect, it } from 'vitest';
import { memorySize, smallestSize } from '../../src/adapters/system/system.js';
import { processExchange } from '../../src/composition/process-state.js';
import {
  bodyMemory,
  processBodies,
  processFaults,
  processMemory,
  processStored,
  provideExchange,
  sharedObjects,
} from '../../src/composition/toolkit/process-wide.js';

const MIB = 1_048_576;

describe('the memory for request bodies', () => {
  it('is a quarter of the process memory, at least 64 MiB', () => {
    expect([bodyMemory(4_096 * MIB), bodyMemory(128 * MIB)]).toEqual([1_024 * MIB, 64 * MIB]);
  });

  it('uses the smallest known limit', () => {
    expect(smallestSize([4_096, 0, 2_048])).toBe(2_048);
    expect(smallestSize([4_096, undefined, 2 ** 64])).toBe(4_096);
    expect(memorySize()).toBeGreaterThan(MIB);
  });

  it('is shared by all toolkits', () => {
    expect(processBodies(1)).toBe(processBodies(2));
  });
});

describe('the parts of a process', () => {
  it.each<[string, () => unknown]>([
    ['bodies', () => processBodies(1)],
    ['exchange', provideExchange],
    ['faults', processFaults],
    ['stored', processStored],
    ['memory', processMemory],
    ['shared', sharedObjects],
  ])('are known to every copy of the package: %s', (name, part) => {
    const symbol = Symbol.for(`agent-bff/${name}@1`);
    const holder = globalThis as { [name: symbol]: unknown };
    delete holder[symbol];
    const first = part();
    expect(holder[symbol]).toBeInstanceOf(Object);
    expect([part(), holder[symbol]]).toEqual([first, first ?? holder[symbol]]);
  });

  it('hold an eighth of the memory for data, at least 64 MiB, and a 32nd for tokens, at least 16 MiB', () => {
    const { data, tokens } = processMemory();
    const part = (least: number, divisor: number): number => Math.max(least * MIB, Math.floor(memorySize() / divisor));
    expect([data.limitBytes, tokens.limitBytes]).toEqual([part(64, 8), part(16, 32)]);
  });
});

describe('the exchange of a process', () => {
  const KEY = Symbol.for('agent-bff/exchange@1');
  const holder = globalThis as { [KEY]?: unknown };
  const [request, response] = [{} as never, {} as never];
  const given = { status: 404, headers: {}, body: null };
  const exchange = () => {
    const served: unknown[] = [];
    const serve = async (...[, , respond]: Parameters<typeof processExchange.serve>) =>
      void served.push(await respond());
    return { served, exchange: { serve, respond: () => Promise.resolve(undefined), body: () => 'a body' } };
  };

  it('before any toolkit leaves the response as it is, and is provided by the first response', async () => {
    delete holder[KEY];
    expect(await processExchange.respond(request, response, () => Promise.resolve(given))).toBe(given);
    expect(processExchange.body(null, response, 0)).toBeNull();
    const { served, exchange: first } = exchange();
    await processExchange.serve(request, response, () => {
      holder[KEY] = first;
      return Promise.resolve(given);
    });
    expect(served).toEqual([given]);
  });

  it('is that of the first toolkit', async () => {
    const { served, exchange: first } = exchange();
    holder[KEY] = first;
    await processExchange.serve(request, response, () => Promise.resolve(given));
    expect(served).toEqual([given]);
    expect(await processExchange.respond(request, response, () => Promise.resolve(given))).toBeUndefined();
    expect(processExchange.body(null, response, 0)).toBe('a body');
    delete holder[KEY];
  });
});
