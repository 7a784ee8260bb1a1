import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionsIn, Fleet } from './two-processes.js';

type Step =
  | { readonly kind: 'render' | 'act'; readonly process: 0 | 1 }
  | { readonly kind: 'connection'; readonly process: 0 | 1; readonly isDown: boolean }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'recover' };

const process = fc.constantFrom(0 as const, 1 as const);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('render' as const, 'act' as const), process }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('connection' as const), process, isDown: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 2_999, 3_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'recover' as const }) },
);

async function follow(script: readonly Step[]): Promise<void> {
  const fleet = new Fleet(2);
  let acted = 0;
  // The latest action that each process must know of: its own, and all that were written before their response.
  const known = [0, 0];
  for (const step of [...script, { kind: 'recover' } as const]) {
    if (step.kind === 'advance') await fleet.clock.pass(step.ms);
    else if (step.kind === 'connection') Object.assign(fleet.connections[step.process] ?? {}, { isDown: step.isDown });
    else if (step.kind === 'act') {
      await fleet.actIn(step.process);
      acted += 1;
      known[step.process] = acted;
      if (fleet.clock.waiting === 0) known.fill(acted);
    } else if (step.kind === 'render') {
      expect(actionsIn(await fleet.show(step.process))).toBeGreaterThanOrEqual(known[step.process] ?? 0);
    } else {
      fleet.all = { isDown: false };
      await fleet.clock.pass(2_000);
      expect(fleet.clock.waiting).toBe(0);
      for (const shown of [0, 1]) expect(actionsIn(await fleet.show(shown))).toBe(acted);
      known.fill(acted);
    }
  }
}

describe('two processes with unreliable connections to the store', () => {
  it('each see their own actions, and agree once the connections recover', async () => {
    await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 20 }), follow), { numRuns: 200 });
  }, 120_000);
});
