import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { READER_FAMILIES } from '../../support/other-readers/other-readers.js';
import { corpus } from './hostile-messages/corpus.js';
import { crossings, type Crossing } from './hostile-messages/crossing.js';
import { thrownTogether } from './hostile-messages/thrown-together.js';
import { violations } from './hostile-messages/violations.js';

/** How many messages are thrown together, and from which seed. More find more: `HOSTILE_MESSAGES=100000 HOSTILE_SEED=7`. */
const COUNT = Number(process.env['HOSTILE_MESSAGES'] ?? 4_000);
const SEED = Number(process.env['HOSTILE_SEED'] ?? 20_260_301);

const MESSAGES = [...corpus(), ...fc.sample(thrownTogether, { numRuns: COUNT, seed: SEED })];

describe(`of ${String(MESSAGES.length)} hostile messages to a site whose visitors share one credential`, () => {
  let crossed: readonly Crossing[];

  beforeAll(async () => {
    crossed = await crossings(MESSAGES);
  }, 120_000);

  it('some cross, none of them coded', async ({ annotate }) => {
    await annotate(`${String(crossed.length)} of ${String(MESSAGES.length)} crossed`);
    expect(crossed.length).toBeGreaterThan(100);
    expect(crossed.filter(({ contentEncoding = 'identity' }) => contentEncoding !== 'identity')).toEqual([]);
  });

  for (const { name, installed, read } of READER_FAMILIES) {
    it.skipIf(!installed)(
      `no reader in ${name} finds a webhook or another method than those of the chat in what crossed`,
      async ({ annotate }) => {
        const readings = await read(crossed);
        await annotate(
          `${String(readings.length)} readings by ${String(new Set(readings.map(({ reader }) => reader)).size)} readers`,
        );
        expect(violations(crossed, readings)).toBe('');
      },
      300_000,
    );
  }
});
