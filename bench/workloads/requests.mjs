// CPU time and requests per second. Servers in `three` and `two` have that many processes; targets name most of them.
// Those in `few` take part in few rounds, and not in a quick run.
import { execFile } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { cpuRounds, figures, withRivals } from '../measure.mjs';
import { startRedis } from '../native-process.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHAT = { scenario: 'chat', path: '/api/a2a', connections: 50 };
const WIDGETS = 1_000;
const RENDER = { scenario: 'render', path: '/api/service-surfaces/widget-{n}/render', connections: 50 };
const CACHED = { fromCache: true, vary: WIDGETS };
const NEXT_PATHS = {
  'ours-next': '/api/a2a',
  'next-fetch': '/api/fetch',
  'next-passthrough': '/api/passthrough/chat',
  'next-constant': '/api/constant',
};

export const chat = workload({
  title: 'One chat message: 1 KB in, 1 KB out',
  about: '50 kept connections, each asking again as soon as it is answered.',
  three: 'ours-express ours-node node-dispatch express-dispatch fastify-reply-from',
  two: `
    ours-express-unparsed ours-fastify ours-koa http-proxy-middleware-parser koa-proxies
    express-fetch express-constant`,
  few: `
    nginx node-constant ours-express-raw ours-web fastify-constant koa-constant node-client httpxy
    fastify-http-proxy http-proxy-middleware express-http-proxy node-fetch h3-proxy-request
    hono-proxy`,
  ask: CHAT,
});

export const upload = workload({
  title: 'A message of 1 MB',
  about: '8 kept connections; the answer has 200 bytes.',
  two: `
    ours-express ours-express-raw ours-express-unparsed ours-node node-client
    http-proxy-middleware-parser`,
  few: 'nginx node-dispatch express-dispatch httpxy http-proxy-middleware express-fetch',
  options: { path: '/upload', scenario: 'upload' },
  ask: { ...CHAT, scenario: 'upload', connections: 8 },
  pace: ({ quick }) => ({ uncounted: quick ? 1 : 3 }),
});

export const stream = workload({
  title: 'An answer streamed as 200 events of 200 bytes',
  about: '50 streams at once; the upstream sends each event by itself.',
  unit: 'stream',
  three: 'ours-express ours-node node-client node-fetch express-fetch hono-proxy',
  few: 'nginx node-dispatch express-dispatch fastify-reply-from http-proxy-middleware h3-proxy-request',
  options: { path: '/stream', scenario: 'stream' },
  ask: { ...CHAT, scenario: 'stream' },
  // A slice in which every visitor gets some whole streams; a warm-up of 2,000 streams is 400,000 events.
  pace: ({ pace }) => ({ sliceMs: 225, longestWarmUpMs: Math.min(4_000, pace.longestWarmUpMs) }),
});

export const next = workload({
  title: 'The chat of 1 KB in a production build of Next',
  about: '50 kept connections; each route in a process of its own.',
  two: Object.keys(NEXT_PATHS).join(' '),
  ask: ({ name }) => ({ ...CHAT, path: NEXT_PATHS[name] }),
  prepare: buildNext,
});

export const render = workload({
  title: 'A cached render of 1 KB',
  about: `50 kept connections ask for ${WIDGETS.toLocaleString('en')} widgets that are fresh in the cache, against the same framework answering a constant of that size. Every response counted says \`x-cache: HIT\`. A hit reads three entries; "alone" is one connection, whose reads share no write to Redis with those of others.`,
  entries: [
    { name: 'express-constant', options: { scenario: 'render' } },
    { name: 'ours-render' },
    { name: 'ours-render', key: 'ours-render-alone', label: 'cached render, in memory, alone' },
  ],
  // Many of 50 visitors are served in one turn of the event loop and share the reads of Redis; a single visitor pays for a whole read.
  ask: ({ name, key }) => ({
    ...RENDER,
    ...(name.startsWith('ours-') && CACHED),
    ...(key.endsWith('-alone') && { connections: 1 }),
  }),
  prepare: async (_context, notes) => {
    const redis = await startRedis().catch((error) => void notes.push(`Left out: ${error.message}.`));
    if (redis === undefined) return {};
    const options = { redis: `redis://127.0.0.1:${redis.facts.port}` };
    const alone = { key: 'ours-render-redis-alone', label: 'cached render, in Redis, alone' };
    const entry = { name: 'ours-render-redis', options };
    return { further: [entry, { ...entry, ...alone }], close: redis.close };
  },
});

function workload(settings) {
  const { title, about, unit = 'request', three = '', two = '', few = '', entries = [], options, ask } = settings;
  const named = (names, more) => names.match(/[\w-]+/g)?.map((name) => ({ name, options, ...more })) ?? [];
  const all = [...named(three, { processes: 3 }), ...named(two, { processes: 2 }), ...named(few, { few: true })];
  const run = async (context) => {
    const notes = [];
    const { further = [], close } = (await settings.prepare?.(context, notes)) ?? {};
    try {
      return await withRivals(context, [...all, ...entries, ...further], async (rivals) => {
        await cpuRounds(context, rivals, ask, settings.pace?.(context));
        return { figures: figures(rivals), notes };
      });
    } finally {
      await close?.();
    }
  };
  return { title, about, measures: { cpu: `CPU µs per ${unit}`, rate: `${unit}s/s` }, run };
}

async function buildNext({ say }) {
  say('next build');
  const folder = join(ROOT, 'bench/next');
  // The package as a site finds it. A link, since a lock file would repeat this repository's dependencies.
  const link = join(folder, 'node_modules/agent-bff');
  rmSync(link, { force: true });
  symlinkSync(ROOT, link, 'junction');
  const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
  await promisify(execFile)(process.execPath, ['node_modules/next/dist/bin/next', 'build'], { cwd: folder, env });
}
