import { cpuRounds, figures, withRivals } from '../measure.mjs';

/** Those that most targets name. */
const NAMED_MOST = ['ours-express', 'ours-node', 'node-dispatch', 'express-dispatch', 'fastify-reply-from'];
const COMPARED = [
  ...NAMED_MOST,
  'ours-express-unparsed',
  'ours-fastify',
  'ours-koa',
  'http-proxy-middleware-parser',
  'koa-proxies',
  'express-fetch',
  'express-constant',
];
const LANDSCAPE = [
  'nginx',
  'node-constant',
  'ours-express-raw',
  'ours-web',
  'fastify-constant',
  'koa-constant',
  'node-client',
  'httpxy',
  'fastify-http-proxy',
  'http-proxy-middleware',
  'express-http-proxy',
  'node-fetch',
  'h3-proxy-request',
  'hono-proxy',
];

export const chat = {
  title: 'One chat message: 1 KB in, 1 KB out',
  about: '50 kept connections, each asking again as soon as it is answered.',
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  plot: 'cpu',
  run: (context) => {
    const landscape = context.quick ? [] : LANDSCAPE.map((name) => ({ name, few: true }));
    const entries = COMPARED.map((name) => ({ name, processes: NAMED_MOST.includes(name) ? 3 : 2 }));
    return withRivals(context, [...entries, ...landscape], async (rivals) => {
      await cpuRounds(context, rivals, { scenario: 'chat', path: '/api/a2a', connections: 50 });
      return { figures: figures(rivals) };
    });
  },
};
