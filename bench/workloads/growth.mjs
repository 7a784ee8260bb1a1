import { check, cpuRounds, figures, guarded, withRivals } from '../measure.mjs';

const STREAMS = [1, 100, 1_000, 5_000];
const ENTRIES = [10, 10_000];
const CHAT = { scenario: 'chat', path: '/api/a2a', connections: 50 };
const RENDER = {
  scenario: 'render',
  path: '/api/service-surfaces/widget-{n}/render',
  connections: 50,
  fromCache: true,
};

export const growth = {
  title: 'How the cost of a request grows',
  about:
    'The same request beside ever more open streams, cached tokens and cached renders: one process for each size, in alternating rounds.',
  measures: { cpu: 'CPU µs per request' },
  run: async (context) => ({
    figures: [
      ...(await besideStreams(context)),
      ...(await overEntries(context, 'tokens', 'ours-tokens', CHAT)),
      ...(await overEntries(context, 'renders', 'ours-render', RENDER)),
    ],
  }),
};

async function besideStreams(context) {
  const sizes = context.quick ? [STREAMS[0], STREAMS.at(-1)] : STREAMS;
  const entries = sizes.map((count) => ({
    name: 'ours-express',
    key: `streams-${count}`,
    label: `a chat beside ${count.toLocaleString('en')} open ${count === 1 ? 'stream' : 'streams'}`,
    options: { path: '/mixed' },
    processes: 2,
  }));
  return withRivals(context, entries, async (rivals) => {
    for (const [index, rival] of rivals.entries()) {
      await guarded(rival, async () => {
        const ask = { ...CHAT, scenario: 'hold', connections: sizes[index] };
        for (const { target } of rival.places) check(await context.load.ask('hold', { ...ask, target }));
      });
    }
    await cpuRounds(context, rivals, CHAT, warmUpOf(context));
    await context.load.ask('release');
    return figures(rivals);
  });
}

/** Runs `ask` for different numbers of entries: users by a header field, widgets by the path. */
async function overEntries(context, what, name, ask) {
  const entries = ENTRIES.map((count) => ({
    name,
    key: `${what}-${count}`,
    label: `${what === 'tokens' ? 'a chat' : 'a render'} among ${count.toLocaleString('en')} cached ${what}`,
    processes: 2,
  }));
  return withRivals(context, entries, async (rivals) => {
    const asks = ENTRIES.map((vary) => ({ ...ask, vary, fields: { 'x-user': 'user-{n}' } }));
    await cpuRounds(context, rivals, (rival) => asks[rivals.indexOf(rival)], warmUpOf(context));
    return figures(rivals);
  });
}

/** All are the same server, so they need the same warm-up. */
function warmUpOf({ pace }) {
  return { longestWarmUpMs: Math.min(6_000, pace.longestWarmUpMs) };
}
