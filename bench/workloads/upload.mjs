import { cpuRounds, figures, withRivals } from '../measure.mjs';

const COMPARED = [
  'ours-express',
  'ours-express-raw',
  'ours-express-unparsed',
  'ours-node',
  'node-client',
  'http-proxy-middleware-parser',
];
const LANDSCAPE = ['nginx', 'node-dispatch', 'express-dispatch', 'httpxy', 'http-proxy-middleware', 'express-fetch'];

export const upload = {
  title: 'A message of 1 MB',
  about: '8 kept connections; the answer has 200 bytes.',
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  plot: 'cpu',
  run: (context) => {
    const landscape = context.quick ? [] : LANDSCAPE.map((name) => ({ name, few: true }));
    const entries = [...COMPARED.map((name) => ({ name, processes: 2 })), ...landscape];
    const options = { path: '/upload', scenario: 'upload' };
    return withRivals(
      context,
      entries.map((entry) => ({ ...entry, options })),
      async (rivals) => {
        const ask = { scenario: 'upload', path: '/api/a2a', connections: 8 };
        await cpuRounds(context, rivals, ask, { uncounted: context.quick ? 1 : 3 });
        return { figures: figures(rivals) };
      },
    );
  },
};
