import { describe, expect, it, vi } from 'vitest';
import type { SurfaceRef } from '../../../src/domain/surfaces/surface-ref.js';
import { ADA, COUNTER, COUNTER_BY_NAME, QUOTE, SurfaceWorld } from './surface-world.js';

/** Inputs of a given size that are the most expensive to parse. */
const INPUTS: readonly [string, (bytes: number) => string][] = [
  [
    'empty objects',
    (bytes) =>
      `{"x":[${Array(Math.floor(bytes / 3))
        .fill('{}')
        .join(',')}]}`,
  ],
  [
    'short names',
    (bytes) => `{${Array.from({ length: bytes / 8 }, (_, index) => `"${index.toString(36)}":0`).join(',')}}`,
  ],
  [
    'objects in a list',
    (bytes) =>
      `[${Array(Math.floor(bytes / 8))
        .fill('{"a":1}')
        .join(',')}]`,
  ],
];

/** A platform that renders the counter with this body. */
function worldOf(body: string): SurfaceWorld {
  const world = new SurfaceWorld({ maxEntryBytes: 1_048_576 });
  world.platform.rendered = (answer) => (String(answer.body).includes('"id":"quote"') ? answer : { ...answer, body });
  return world;
}

describe('a large request body', () => {
  it.each(INPUTS)('is not parsed for the cache key: %s', async (_what, make) => {
    const world = worldOf('{}');
    const body = make(64_000);
    const parse = vi.spyOn(JSON, 'parse');
    const first = await world.render(ADA, COUNTER, { body });
    const second = await world.render(ADA, COUNTER, { body });
    expect([first.cache, second.cache]).toEqual(['MISS', 'HIT']);
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(2_048);
  });
});

describe('a large response of the platform', () => {
  const rendered = (content: string): SurfaceWorld => {
    const surface = `{"id":"counter","content":${content},"name":"Counter"}`;
    return worldOf(`{"content":${content},"surface":${surface}}`);
  };
  const cache = async (world: SurfaceWorld, ref: SurfaceRef): Promise<unknown> => (await world.render(ADA, ref)).cache;

  it.each(INPUTS)('names its surface: an action on it drops its renders: %s', async (_what, make) => {
    const world = rendered(make(12_000));
    for (const ref of [COUNTER_BY_NAME, COUNTER])
      expect([await cache(world, ref), await cache(world, ref)]).toEqual(['MISS', 'HIT']);
    await world.act(ADA, COUNTER);
    for (const ref of [COUNTER_BY_NAME, COUNTER]) expect(await cache(world, ref)).toBe('MISS');
  });

  it.each(INPUTS)(
    'with too many values is not parsed, and an action still drops its renders: %s',
    async (_what, make) => {
      const world = rendered(make(256_000));
      const parse = vi.spyOn(JSON, 'parse');
      for (const ref of [COUNTER_BY_NAME, QUOTE])
        expect([await cache(world, ref), await cache(world, ref)]).toEqual(['MISS', 'HIT']);
      await world.act(ADA, COUNTER);
      expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(2_048);
      expect([await cache(world, COUNTER_BY_NAME), await cache(world, QUOTE)]).toEqual(['MISS', 'HIT']);
    },
  );
});
