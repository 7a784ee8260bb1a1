import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteCollector, uriDecoded, utf8Text } from '../../../src/domain/shared/bytes.js';

function collected(chunks: readonly Uint8Array[]): ByteCollector {
  const collector = new ByteCollector();
  for (const chunk of chunks) collector.push(chunk);
  return collector;
}

/** The memory retained by the blocks. A view retains its whole buffer. */
function heldBytes(blocks: readonly Uint8Array[]): number {
  return [...new Set(blocks.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

const chunk = fc.oneof(
  fc.uint8Array({ maxLength: 5 }),
  fc.integer({ min: 4_090, max: 70_000 }).map((length) => new Uint8Array(length).fill(length)),
);

describe('a byte collector', () => {
  it('returns all bytes in order, however they were split', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 30 }), (chunks) => {
        const all = Buffer.concat(chunks);
        const collector = collected(chunks);
        expect(collector.length).toBe(all.length);
        expect(Buffer.from(collector.take()).equals(all)).toBe(true);
        expect(Buffer.concat(collected(chunks).takeBlocks()).equals(all)).toBe(true);
      }),
    );
  });

  it('returns a single chunk without copying it, even as part of a larger buffer', () => {
    const only = new Uint8Array(1_000_000).subarray(7, 9);
    expect(collected([new Uint8Array(), only]).take()).toBe(only);
  });

  it('packs one-byte chunks into few blocks of at most twice their bytes', () => {
    const blocks = collected(Array.from({ length: 100_000 }, () => Uint8Array.of(1))).takeBlocks();
    expect(blocks.length).toBeLessThan(30);
    expect(heldBytes(blocks)).toBe(100_000);
  });

  it.each([10, 5_000])('does not retain a large buffer for a part of %i bytes', (length) => {
    const parts = Array.from({ length: 20 }, () => new Uint8Array(65_536).subarray(0, length));
    expect(heldBytes(collected(parts).takeBlocks())).toBeLessThanOrEqual(65_536 + 20 * length);
  });

  it('does not copy large chunks', () => {
    const large = [new Uint8Array(65_536), new Uint8Array(65_536)];
    const blocks = collected(large).takeBlocks();
    expect(blocks.map((block, index) => block === large[index])).toEqual([true, true]);
  });

  it('is empty after its bytes are taken', () => {
    const collector = collected([Uint8Array.of(1), Uint8Array.of(2)]);
    collector.take();
    expect([collector.length, collector.take()]).toEqual([0, new Uint8Array()]);
  });
});

describe('a text', () => {
  it.each([
    ['a letter', [0xc3, 0xa9], 'é'],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], '\ufeffa'],
    ['half a letter', [0x61, 0xc3], undefined],
  ])('is decoded from %s, or not at all', (_what, bytes, decoded) => {
    expect(utf8Text(Uint8Array.from(bytes))).toBe(decoded);
  });

  it.each([
    ['a%2Fb+%C3%A9', 'a/b+é'],
    ['%C3', undefined],
    ['100%', undefined],
  ])('is decoded from the percent-encoding %s as %s', (encoded, decoded) => {
    expect(uriDecoded(encoded)).toBe(decoded);
  });
});
