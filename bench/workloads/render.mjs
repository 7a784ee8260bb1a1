import { cpuRounds, figures, withRivals } from '../measure.mjs';
import { startRedis } from '../native-process.mjs';

const PATH = '/api/service-surfaces/widget-{n}/render';

export const render = {
  title: 'A cached render of 1 KB',
  about:
    '50 kept connections ask for one widget that is fresh in the cache, against the same framework answering a constant of that size.',
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  plot: 'cpu',
  run: async (context) => {
    const notes = [];
    const redis = await startRedis().catch((error) => void notes.push(`Left out: ${error.message}.`));
    const entries = [
      { name: 'express-constant', options: { scenario: 'render' } },
      { name: 'ours-render' },
      ...(redis === undefined
        ? []
        : [{ name: 'ours-render-redis', options: { redis: `redis://127.0.0.1:${redis.facts.port}` } }]),
    ];
    try {
      return await withRivals(context, entries, async (rivals) => {
        await cpuRounds(context, rivals, { scenario: 'render', path: PATH, connections: 50 });
        return { figures: figures(rivals), notes };
      });
    } finally {
      await redis?.close();
    }
  },
};
