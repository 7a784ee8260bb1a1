import { cpuRounds, figures, withRivals } from '../measure.mjs';
import { startRedis } from '../native-process.mjs';

const WIDGETS = 1_000;
const ASK = { scenario: 'render', path: '/api/service-surfaces/widget-{n}/render', connections: 50 };
/** Of 50 visitors, many are served in one turn of the event loop, and what they read of Redis shares its writes and reads; one alone pays for all of it. */
const ALONE = { ...ASK, connections: 1 };
const CACHED = { fromCache: true, vary: WIDGETS };

export const render = {
  title: 'A cached render of 1 KB',
  about: `50 kept connections ask for ${WIDGETS.toLocaleString('en')} widgets that are fresh in the cache, against the same framework answering a constant of that size. Every response counted says \`x-cache: HIT\`. A hit reads three entries; "alone" is one connection, whose reads share no write to Redis with those of others.`,
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  plot: 'cpu',
  run: async (context) => {
    const notes = [];
    const redis = await startRedis().catch((error) => void notes.push(`Left out: ${error.message}.`));
    const entries = [
      { name: 'express-constant', options: { scenario: 'render' } },
      { name: 'ours-render' },
      { name: 'ours-render', key: 'ours-render-alone', label: 'cached render, in memory, alone' },
    ];
    if (redis !== undefined) {
      const options = { redis: `redis://127.0.0.1:${redis.facts.port}` };
      entries.push({ name: 'ours-render-redis', options });
      const label = 'cached render, in Redis, alone';
      entries.push({ name: 'ours-render-redis', key: 'ours-render-redis-alone', label, options });
    }
    try {
      return await withRivals(context, entries, async (rivals) => {
        await cpuRounds(context, rivals, ({ name, key }) => ({
          ...(key.endsWith('-alone') ? ALONE : ASK),
          ...(name.startsWith('ours-') && CACHED),
        }));
        return { figures: figures(rivals), notes };
      });
    } finally {
      await redis?.close();
    }
  },
};
