import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodedBody } from '../../src/adapters/node/decoded-body.js';

const MEGABYTE = 1_048_576;

async function decodedBytes(body: Uint8Array | AsyncIterable<Uint8Array>, coding: string): Promise<number> {
  let size = 0;
  for await (const chunk of decodedBody(body, coding)) size += chunk.length;
  return size;
}

describe('a compressed body', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
    [' Deflate', deflateSync],
  ])('in %s is decoded up to 16 MB, however well it compresses', async (coding, compress) => {
    expect(await decodedBytes(new Uint8Array(compress(Buffer.alloc(16 * MEGABYTE))), coding)).toBe(16 * MEGABYTE);
  });

  it.each(['zstd', 'constructor'])('in %s is rejected', (coding) => {
    expect(() => decodedBody(gzipSync('text'), coding)).toThrow('no decoder');
  });

  it('is decoded from its chunks, and breaks if it was cut', async () => {
    const bytes = gzipSync('text');
    async function* chunks(end: number): AsyncGenerator<Uint8Array> {
      for (const byte of bytes.subarray(0, end)) yield Uint8Array.of(byte);
    }
    expect(await decodedBytes(chunks(bytes.length), 'gzip')).toBe(4);
    await expect(decodedBytes(chunks(bytes.length - 1), 'gzip')).rejects.toThrow();
  });

  it('is read no further once its reader stops', async () => {
    let stop: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield gzipSync('text');
        for (;;) yield gzipSync(randomBytes(100_000));
      } finally {
        stop();
      }
    }
    for await (const chunk of decodedBody(endless(), 'gzip')) if (chunk.length > 0) break;
    await stopped;
  });

  it('breaks beyond 16 MB once it expands excessively', async () => {
    await expect(decodedBytes(gzipSync(Buffer.alloc(17 * MEGABYTE)), 'gzip')).rejects.toThrow('expanded excessively');
  });

  it('of more than 16 MB is decoded if it compresses like text', async () => {
    const text = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => String(at)).join());
    expect(text.length).toBeGreaterThan(16 * MEGABYTE);
    expect(await decodedBytes(gzipSync(text, { level: 1 }), 'gzip')).toBe(text.length);
  });
});
