import { setTimeout as pause } from 'node:timers/promises';
import { add, check, figures, guarded, withRivals } from '../measure.mjs';

const MIB = 1_048_576;
/** A quick run looks at the first two. */
const RIVALS = ['ours-express', 'ours-node', 'node-dispatch', 'node-client', 'node-fetch', 'express-fetch'];
/** Those that no target names crawl once. */
const TIMES = { 'ours-express': 3 };
const FEWER_TIMES = 1;
const BYTES_PER_SECOND = 4 * MIB;

export const slowReader = {
  title: 'A reader at a crawl',
  about: 'The upstream would send 400 MB; one visitor reads 4 MB a second. The most memory the process took meanwhile.',
  measures: { megabytes: 'MB more than before' },
  run: async (context) => {
    const all = [];
    for (const name of context.quick ? RIVALS.slice(0, 2) : RIVALS) {
      context.say(name);
      let kept;
      for (let time = 0; time < (context.quick ? 1 : (TIMES[name] ?? FEWER_TIMES)); time += 1) {
        const [rival] = await withRivals(context, [{ name, options: { path: '/flood' }, gc: true }], async ([only]) => {
          await guarded(only, () => crawl(context, only));
          return [only];
        });
        kept ??= { ...rival, samples: {} };
        kept.problem = rival.problem;
        for (const value of rival.samples.megabytes ?? []) add(kept, 'megabytes', value);
      }
      all.push(kept);
    }
    return { figures: figures(all) };
  },
};

async function crawl(context, rival) {
  const ask = { scenario: 'flood', path: '/api/a2a', bytesPerSecond: BYTES_PER_SECOND, target: rival.target };
  // Once before it counts: code and buffers of a process that has never served anybody are no cost of the slow reader.
  await context.load.ask('crawl', { ...ask, seconds: 1 });
  await pause(500);
  await rival.process.ask('rss');
  const before = await rival.process.ask('watchRss');
  const { received, problem } = await context.load.ask('crawl', { ...ask, seconds: context.quick ? 3 : 4 });
  check({ completed: received, problem });
  add(rival, 'megabytes', ((await rival.process.ask('peakRss')) - before) / MIB);
}
