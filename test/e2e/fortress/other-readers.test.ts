import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { READER_FAMILIES } from '../../support/other-readers/other-readers.js';
import { CHAT_METHODS } from '../../support/other-readers/reading.js';
import { crossings, type Crossing } from './hostile-messages/crossing.js';
import { thrownTogether } from './hostile-messages/thrown-together.js';

/** For a longer search: `HOSTILE_MESSAGES=100000 HOSTILE_SEED=7`. */
const COUNT = Number(process.env['HOSTILE_MESSAGES'] ?? 4_000);
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_260_301);

describe(`${String(COUNT)} hostile messages to a site whose visitors share one credential`, () => {
  let crossed: readonly Crossing[];

  beforeAll(async () => {
    crossed = await crossings(fc.sample(thrownTogether, { numRuns: COUNT, seed: SEED }));
  }, 120_000);

  it('that reach the agent have no content coding', () => {
    expect(crossed.length).toBeGreaterThan(100);
    expect(crossed.filter(({ contentEncoding = 'identity' }) => contentEncoding !== 'identity')).toEqual([]);
  });

  it('that reach the agent have each name once, and none in escapes', () => {
    for (const { body } of crossed.filter((one) => one.body.length > 0)) {
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
      // With each number as a text, since `JSON.parse` rounds some.
      const numbers = text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[-+.\deE]*/g, (token) =>
        token.startsWith('"') ? token : `"#${token}"`,
      );
      expect(JSON.stringify(JSON.parse(numbers))).toBe(numbers);
    }
  });

  for (const { name, installed, read } of READER_FAMILIES) {
    it.skipIf(!installed)(
      `are read by every parser in ${name} as chat methods without a webhook, or not at all`,
      async () => {
        const readings = await read(crossed);
        expect(readings.filter(({ method }) => method !== null).length).toBeGreaterThan(100);
        const forbidden = readings.filter(({ method, push }) => method !== null && (push || !CHAT_METHODS.has(method)));
        const shown = forbidden.slice(0, 20).map((reading) => {
          const { contentType, body } = crossed[reading.id] as Crossing;
          return { ...reading, contentType, body: Buffer.from(body).toString('latin1').slice(0, 240) };
        });
        expect(shown).toEqual([]);
      },
      300_000,
    );
  }
});
