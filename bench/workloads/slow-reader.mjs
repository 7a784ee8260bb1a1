import { setTimeout as pause } from 'node:timers/promises';
import { add, check, figures, guarded, repeatedly, withRivals } from '../measure.mjs';

const MIB = 1_048_576;
/** A quick run measures the first two. */
const RIVALS = ['ours-express', 'ours-node', 'node-dispatch', 'node-client', 'node-fetch', 'express-fetch'];
const BYTES_PER_SECOND = 4 * MIB;

export const slowReader = {
  title: 'A reader at a crawl',
  about: 'The upstream would send 400 MB; one visitor reads 4 MB a second. The most memory the process took meanwhile.',
  measures: { megabytes: 'MB more than before' },
  run: async (context) => {
    const names = context.quick ? RIVALS.slice(0, 2) : RIVALS;
    const times = (name) => (name === 'ours-express' ? 3 : 1); // The only server that a target names.
    const all = await repeatedly(context, names, times, (name) =>
      withRivals(context, [{ name, options: { path: '/flood' }, gc: true }], async ([rival]) => {
        await guarded(rival, () => crawl(context, rival));
        return rival;
      }),
    );
    return { figures: figures(all) };
  },
};

async function crawl(context, rival) {
  const ask = { scenario: 'flood', path: '/api/a2a', bytesPerSecond: BYTES_PER_SECOND, target: rival.target };
  // One run before it counts: code and buffers of a fresh process are not a cost of the slow reader.
  await context.load.ask('crawl', { ...ask, seconds: 1 });
  await pause(500);
  await rival.process.ask('rss');
  const before = await rival.process.ask('watchRss');
  const { received, problem } = await context.load.ask('crawl', { ...ask, seconds: context.quick ? 3 : 4 });
  check({ completed: received, problem });
  add(rival, 'megabytes', ((await rival.process.ask('peakRss')) - before) / MIB);
}
