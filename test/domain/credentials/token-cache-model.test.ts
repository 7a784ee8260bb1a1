import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IssueOutcome } from '../../../src/ports/identity-provider.js';
import { failure, settled, TokenWorld } from './token-fixture.js';

type Answer =
  | { readonly kind: 'token'; readonly lifeMs: number }
  | { readonly kind: 'refused' | 'unavailable'; readonly retryAfterMs: number }
  | { readonly kind: 'incomplete' | 'throws' };

type Step = { readonly advance: number } | { readonly answer: Answer } | { readonly get: number };

/** A second, simpler implementation of the cache as a model. */
class Model {
  token: { readonly value: string; readonly expiresAt: number; readonly lifeMs: number } | undefined;
  retryAt = 0;
  failures = 0;
  /** A quarter of an hour after token and back-off, nothing is known of either. */
  keptUntil = 0;

  kept(now: number): void {
    this.keptUntil = Math.max(this.token?.expiresAt ?? 0, this.retryAt, now) + 900_000;
  }

  isFresh(now: number): boolean {
    if (this.token === undefined) return false;
    const early = Math.min(120_000, this.token.lifeMs / 5);
    return now < this.token.expiresAt - early;
  }

  isValid(now: number): boolean {
    return this.token !== undefined && now < this.token.expiresAt;
  }

  gave(value: string, lifeMs: number, now: number): void {
    this.token = { value, expiresAt: now + lifeMs, lifeMs };
    this.failures = 0;
    this.retryAt = 0;
    this.kept(now);
  }

  failed(answer: Answer, now: number): void {
    if (now >= this.keptUntil) this.failures = 0;
    this.kept(now);
    if (answer.kind === 'incomplete' || answer.kind === 'token') return;
    const [first, most] = answer.kind === 'refused' ? [30_000, 900_000] : [250, 15_000];
    const asked = 'retryAfterMs' in answer ? answer.retryAfterMs : 0;
    this.retryAt = now + Math.max(asked, Math.min(most, first * 2 ** this.failures));
    this.failures += 1;
    this.kept(now);
  }
}

const answers: fc.Arbitrary<Answer> = fc.oneof(
  fc.record({ kind: fc.constant('token' as const), lifeMs: fc.integer({ min: 1, max: 90_000_000 }) }),
  fc.record({
    kind: fc.constantFrom('refused' as const, 'unavailable' as const),
    retryAfterMs: fc.constantFrom(0, 1_000, 60_000),
  }),
  fc.record({ kind: fc.constantFrom('incomplete' as const, 'throws' as const) }),
);

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ get: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      advance: fc.oneof(
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 100_000 }),
        fc.integer({ min: 0, max: 90_000_000 }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ answer: answers }) },
);

describe('a token cache with any provider at any time', () => {
  it('serves a valid token whenever there is one, never an expired one, without superfluous calls', async () => {
    await fc.assert(
      fc.asyncProperty(answers, fc.array(steps, { maxLength: 40 }), async (first, script) => {
        const world = new TokenWorld();
        const model = new Model();
        let answer = first;
        world.provider.answer = (now): IssueOutcome => {
          expect(model.isFresh(now), 'asked while a fresh token is there').toBe(false);
          expect(now, 'asked before the back-off is over').toBeGreaterThanOrEqual(model.retryAt);
          if (answer.kind === 'token') {
            const value = `token-${String(world.provider.issued)}`;
            model.gave(value, answer.lifeMs, now);
            return { kind: 'token', token: { value, expiresAt: now + answer.lifeMs } };
          }
          model.failed(answer, now);
          if (answer.kind === 'throws') throw new Error('broken');
          return 'retryAfterMs' in answer
            ? failure(answer.kind, { retryAfterMs: answer.retryAfterMs })
            : failure(answer.kind);
        };
        for (const step of script) {
          if ('advance' in step) world.clock.advance(step.advance);
          else if ('answer' in step) answer = step.answer;
          else {
            const now = world.clock.now();
            const hadValid = model.isValid(now);
            const outcomes = await Promise.all(Array.from({ length: step.get }, () => world.get()));
            await settled();
            for (const outcome of outcomes) {
              if (outcome.kind === 'token') expect(outcome.token.expiresAt).toBeGreaterThan(now);
              else expect(hadValid, 'an error while a token is valid').toBe(false);
            }
            expect(world.cache.peek('key')?.value).toBe(model.isValid(now) ? model.token?.value : undefined);
          }
        }
        // The cache takes a failed assertion inside the provider for a provider fault, so look for it in the events.
        expect(world.telemetry.of('token').some(({ detail }) => detail?.includes('AssertionError'))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
