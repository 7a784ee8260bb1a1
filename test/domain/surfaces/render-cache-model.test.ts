import { env } from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SERVICE } from '../credentials/broker-fixture.js';
import { SurfaceWorld, user } from './surface-world.js';

const PLANS = { ada: user('ada'), bob: user('bob'), account: SERVICE, eve: user('eve', '') };
type Who = keyof typeof PLANS;
type Step =
  | {
      readonly kind: 'render';
      readonly who: Who;
      readonly id: string;
      readonly by: 'id' | 'name';
      readonly language: string;
      readonly visitors: number;
      readonly process: number;
    }
  | {
      readonly kind: 'act';
      readonly who: Who;
      readonly id: string;
      readonly by: 'id' | 'name';
      readonly process: number;
    }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'change'; readonly id: string }
  | { readonly kind: 'power'; readonly isDown: boolean };

interface Known {
  readonly who: Who;
  readonly id: string;
  readonly renderedAt: number;
  checkedAt: number;
  readonly version: number;
}

/** A second, simpler implementation of the cache as a model. */
class Model {
  now = 0;
  isDown = false;
  readonly versions: Record<string, number> = { counter: 1, quote: 1 };
  readonly named = new Set<string>();
  known = new Map<string, Known>();

  /** The expected number of renders and checks at the platform, and the expected `x-cache`. */
  render(step: Extract<Step, { kind: 'render' }>): readonly [number, number, string] {
    const { who, id, by, language, visitors } = step;
    if (who === 'eve') return [visitors, 0, this.isDown ? 'error' : 'BYPASS'];
    const key = JSON.stringify([who, id, by, language]);
    const found = this.known.get(key);
    const kept = found !== undefined && this.now < found.renderedAt + 300_000 ? found : undefined;
    if (kept !== undefined && this.now < kept.checkedAt + 3_000) return [0, 0, 'HIT'];
    const checks = kept === undefined ? 0 : 1;
    if (this.isDown) return [1 - checks, checks, 'error'];
    if (kept !== undefined && kept.version === this.versions[id]) {
      kept.checkedAt = this.now;
      return [0, 1, 'REVALIDATED'];
    }
    this.known.set(key, { who, id, renderedAt: this.now, checkedAt: this.now, version: this.versions[id] ?? 0 });
    this.named.add(`${who} ${id}`);
    return [1, checks, 'MISS'];
  }

  act({ who, id, by }: Extract<Step, { kind: 'act' }>): void {
    // The platform's reply to an action by name contains the id. Otherwise an earlier render must have named it.
    const isNamed = this.named.has(`${who} ${id}`) || (by === 'name' && !this.isDown);
    const isGone = (known: Known): boolean => known.who === who && (known.id === id || !isNamed);
    this.known = new Map([...this.known].filter(([, known]) => !isGone(known)));
  }
}

const who = fc.constantFrom<Who>('ada', 'bob', 'account', 'eve');
const id = fc.constantFrom('counter', 'quote');
const by = fc.constantFrom('id' as const, 'name' as const);
const process = fc.nat({ max: 1 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('render' as const),
      who,
      id,
      by,
      process,
      language: fc.constantFrom('', 'de'),
      visitors: fc.constantFrom(1, 1, 3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('act' as const), who, id, by, process }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(0, 1, 1_500, 2_999, 3_000, 3_001, 60_000, 299_999, 300_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('power' as const), isDown: fc.boolean() }) },
);
/** Version tags live a minute longer than renders, which the model does not cover. */
const MAX_MS = 359_000;

async function follow(script: readonly Step[]): Promise<void> {
  const world = new SurfaceWorld();
  const processes = [world.cache, world.newCache()];
  const model = new Model();
  for (const step of script) {
    const ref =
      'by' in step
        ? { by: step.by, value: step.by === 'id' ? step.id : step.id.replace(/^./, (first) => first.toUpperCase()) }
        : undefined;
    const cache = 'process' in step ? processes[step.process] : undefined;
    if (step.kind === 'advance' && model.now + step.ms < MAX_MS) {
      model.now += step.ms;
      world.clock.advance(step.ms);
    } else if (step.kind === 'power') {
      model.isDown = step.isDown;
      world.platform.isDown = step.isDown;
    } else if (step.kind === 'change') {
      model.versions[step.id] = (model.versions[step.id] ?? 0) + 1;
      const widget = world.platform.widgets.get(step.id);
      if (widget !== undefined) widget.version += 1;
    } else if (step.kind === 'act') {
      await world.act(PLANS[step.who], ref, {}, cache).catch(() => undefined);
      model.act(step);
    } else if (step.kind === 'render') {
      const [renders, checks] = world.asked;
      const visit = step.language === '' ? {} : { headers: { 'accept-language': step.language } };
      const outcomes = await Promise.allSettled(
        Array.from({ length: step.visitors }, () => world.render(PLANS[step.who], ref, visit, cache)),
      );
      const [moreRenders, moreChecks, told] = model.render(step);
      expect([world.asked[0] - renders, world.asked[1] - checks]).toEqual([moreRenders, moreChecks]);
      const state = world.platform.contentFor(step.id, step.who).replace(/ v\d+/, '');
      for (const outcome of outcomes) {
        expect(outcome.status === 'fulfilled' ? outcome.value.cache : 'error').toBe(told);
        // The caller's own render, as of the last action, in the requested language.
        if (outcome.status === 'fulfilled')
          expect(outcome.value.content.replace(/ v\d+/, '')).toBe(`${state} ${step.language}`.trim());
      }
    }
  }
}

// 1,000 runs in the quick tier, which has two minutes in total. Each part has a time limit of its own.
const PARTS = env['TEST_TIER'] === 'quick' ? [1] : Array.from({ length: 10 }, (_, part) => part + 1);

describe('visitors at any time, in any state of the platform,', () => {
  it.each(PARTS)(
    'receive their own render, not older than the last action, with as few calls as possible (part %i)',
    async () => {
      const scripts = fc.array(steps, { minLength: 3, maxLength: 20 });
      await fc.assert(fc.asyncProperty(scripts, follow), { numRuns: 1_000 });
    },
    120_000,
  );
});
