import { describe, expect, it, vi } from 'vitest';
import type { AbuseCase } from './abuse-corpus/abuse-case.js';
import { ABUSE_FAMILIES } from './abuse-corpus/abuse-families.js';
import { tryCase } from './abuse-corpus/abuse-run.js';
import { ANSWER_MUTANTS } from './abuse-mutants/answer-mutants.js';
import { type AbuseMutant, startMutant } from './abuse-mutants/mutant.js';
import { REQUEST_MUTANTS } from './abuse-mutants/request-mutants.js';

// Each of them is a site of its own, twice.
vi.setConfig({ testTimeout: 120_000 });

const MUTANTS = [...REQUEST_MUTANTS, ...ANSWER_MUTANTS];

/** What one case finds on a forwarder that lacks one control. */
async function tryOn(
  { name, breaks }: Pick<AbuseMutant, 'name' | 'breaks'>,
  abuse: AbuseCase,
): Promise<readonly string[]> {
  const world = await startMutant({ name, breaks });
  try {
    return await tryCase(world, abuse);
  } finally {
    await world.close();
  }
}

function caseOf({ noticedBy: [family, id] }: AbuseMutant): AbuseCase {
  const found = ABUSE_FAMILIES.find(({ name }) => name === family)?.cases.find((abuse) => abuse.id === id);
  if (found === undefined) throw new Error(`the family "${family}" has no case "${id}"`);
  return found;
}

describe('a forwarder without one control', () => {
  it.each(MUTANTS)('is noticed: a forwarder that $name', async (mutant) => {
    const abuse = caseOf(mutant);
    const found = await tryOn(mutant, abuse);
    expect(found).not.toEqual([]);
    // It is one control that is missing, and not the forwarder.
    expect(found.join()).not.toContain('did not serve the next visitor');
    expect(await tryOn({ name: 'sound', breaks: {} }, abuse)).toEqual([]);
  });

  it('comes in at least twenty kinds', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(20);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });
});
