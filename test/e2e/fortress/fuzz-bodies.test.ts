import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { EventStream } from '../../../src/adapters/web/response-body.js';
import { bodyBytes, readAhead } from '../../../src/domain/upstream/body-bytes.js';

// Thousands of runs take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

// A failure prints its seed: `fc.assert(…, { seed, path })` shows it again.
const MANY = { numRuns: 5_000 };
const SOME = { numRuns: 2_000 };

/** Whether bytes end between two events: the lines are made one kind, and the last is empty. */
function endsBetweenEvents(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1').replaceAll(/\r\n?/g, '\n');
  return text === '' || text === '\n' || text.endsWith('\n\n');
}

const streamBytes = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(10, 13) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 255 }) },
    ),
    { maxLength: 40 },
  )
  .map((bytes) => Uint8Array.from(bytes));

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set([0, ...places.map((place) => Math.min(place, bytes.length)), bytes.length])].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => bytes.slice(sorted[index], end));
}

async function* breaking(chunks: readonly Uint8Array[], error: Error | undefined): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield* chunks;
  if (error !== undefined) throw error;
}

describe('whatever bytes come,', () => {
  it('a stream that breaks tells it between two events, and is cut inside one', async () => {
    await fc.assert(
      fc.asyncProperty(
        streamBytes,
        fc.array(fc.nat(40), { maxLength: 6 }),
        fc.boolean(),
        async (bytes, places, breaks) => {
          const chunks = cut(bytes, places).filter((chunk) => chunk.length > 0);
          const fault = breaks ? new Error('broken') : undefined;
          let told = 0;
          const stream = new EventStream(breaking(chunks, fault), {
            keepAliveMs: 0,
            brokenEvent: () => 'EVENT',
            onBroken: () => (told += 1),
          });
          const seen: Uint8Array[] = [];
          let thrown: unknown;
          try {
            for await (const chunk of stream) seen.push(chunk);
          } catch (error) {
            thrown = error;
          }
          const between = endsBetweenEvents(bytes);
          const expected = Buffer.concat([bytes, Buffer.from(breaks && between ? 'EVENT' : '')]);
          expect(Buffer.concat(seen).equals(expected)).toBe(true);
          expect(thrown).toBe(breaks && !between ? fault : undefined);
          expect(told).toBe(breaks ? 1 : 0);
        },
      ),
      MANY,
    );
  });

  it('a body that is read ahead is whole, or as if nobody had read', async () => {
    const chunk = fc.uint8Array({ maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), fc.nat(60), fc.boolean(), async (chunks, limit, breaks) => {
        const fault = breaks ? new Error('broken') : undefined;
        const whole = Buffer.concat(chunks);
        const read = await readAhead(breaking(chunks, fault), limit);
        expect(read.complete).toBe(!breaks && whole.length <= limit);
        expect(await bodyBytes(breaking(chunks, fault), limit)).toEqual(
          read.complete ? new Uint8Array(read.bytes) : undefined,
        );
        if (read.complete) {
          expect(whole.equals(read.bytes)).toBe(true);
          return;
        }
        const again: Uint8Array[] = [];
        const replay = (async () => {
          for await (const one of read.body) again.push(one);
        })();
        await (fault === undefined ? replay : expect(replay).rejects.toBe(fault));
        expect(whole.equals(Buffer.concat(again))).toBe(true);
      }),
      SOME,
    );
  });
});
