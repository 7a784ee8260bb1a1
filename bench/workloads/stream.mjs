import { cpuRounds, figures, withRivals } from '../measure.mjs';

const COMPARED = ['ours-express', 'ours-node', 'node-client', 'node-fetch', 'express-fetch', 'hono-proxy'];
const LANDSCAPE = [
  'nginx',
  'node-dispatch',
  'express-dispatch',
  'fastify-reply-from',
  'http-proxy-middleware',
  'h3-proxy-request',
];

export const stream = {
  title: 'An answer streamed as 200 events of 200 bytes',
  about: '50 streams at once; the upstream sends each event by itself.',
  measures: { cpu: 'CPU µs per stream', rate: 'streams/s' },
  plot: 'cpu',
  run: (context) => {
    const landscape = context.quick ? [] : LANDSCAPE.map((name) => ({ name, few: true }));
    const entries = [...COMPARED.map((name) => ({ name, processes: 3 })), ...landscape];
    return withRivals(
      context,
      entries.map((entry) => ({ ...entry, options: { path: '/stream', scenario: 'stream' } })),
      async (rivals) => {
        const ask = { scenario: 'stream', path: '/api/a2a', connections: 50 };
        // Two thousand streams are four hundred thousand events, more than a server needs to be at its usual speed.
        const longestWarmUpMs = Math.min(4_000, context.pace.longestWarmUpMs);
        // Long enough for every visitor to have some whole streams.
        await cpuRounds(context, rivals, ask, { sliceMs: 225, longestWarmUpMs });
        return { figures: figures(rivals) };
      },
    );
  },
};
