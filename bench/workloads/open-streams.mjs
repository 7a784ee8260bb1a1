import { setTimeout as pause } from 'node:timers/promises';
import { add, check, figures, guarded, repeatedly, visit, withRivals } from '../measure.mjs';

const STREAMS = 5_000;
const MOST = 10_000;
/** Two samples for servers that a target names. */
const timesOf = (name) => (['ours-express', 'node-fetch'].includes(name) ? 2 : 1);
/** A quick run measures the first two. */
const COMPARED = ['ours-express', 'node-fetch', 'node-dispatch', 'ours-node', 'node-client', 'hono-proxy', 'nginx'];
const CHAT = { scenario: 'chat', path: '/api/a2a', connections: 50 };
const HOLD = { scenario: 'hold', path: '/api/a2a' };
/** Descriptors that a process needs for itself and for shared connections, besides one or two per stream. */
const OWN_DESCRIPTORS = 200;
/** Warm-up streams for a server that the other visitors do not call. */
const FIRST_STREAMS = 300;

/** `descriptors`: of the server per stream, whose other end is always a separate connection to the agent. */
const PROTOCOLS = [
  { name: 'ours-express', key: 'ours-express-most', protocol: 'HTTP/1.1', descriptors: 2 },
  { name: 'ours-http2', key: 'ours-http2-most', protocol: 'HTTP/2', descriptors: 1 },
];

export const openStreams = {
  title: `Memory of ${STREAMS} open streams`,
  about:
    'Resident memory of the process while the streams are silent, less what it was after 2 s of chats (over HTTP/2: after 300 streams), by stream; garbage is collected before each reading.',
  measures: { kilobytes: 'KB per open stream', held: 'streams held' },
  run: async (context) => {
    const notes = [];
    const names = context.quick ? COMPARED.slice(0, 2) : COMPARED;
    // A process does not return memory, so each sample starts a new one.
    const all = await repeatedly(context, names, timesOf, (name) => one(context, name, STREAMS));
    if (!context.quick) {
      for (const protocol of PROTOCOLS) all.push(await most(context, protocol, notes));
    }
    return { figures: figures(all), notes };
  },
};

/** As many streams as one process should hold, or as many as the system allows. */
async function most(context, { name, key, protocol, descriptors }, notes) {
  const allowed = Math.floor((context.descriptors - OWN_DESCRIPTORS) / descriptors);
  if (allowed < MOST) {
    notes.push(
      `The system allows a process ${context.descriptors} file descriptors; over ${protocol} a stream takes ${descriptors}.`,
    );
  }
  const streams = Math.min(allowed, MOST);
  context.say(`${streams} streams over ${protocol}`);
  const rival = await one(context, name, streams);
  return { ...rival, key, label: `${rival.label}, ${streams} streams over ${protocol}` };
}

function one(context, name, streams) {
  const http2 = name === 'ours-http2';
  return withRivals(context, [{ name, options: { path: '/mixed' }, gc: true }], async ([rival]) => {
    const hold = (connections) => context.load.ask('hold', { ...HOLD, connections, http2, target: rival.target });
    await guarded(rival, async () => {
      if (http2) {
        const first = await hold(FIRST_STREAMS);
        await context.load.ask('release');
        check({ completed: first.held, problem: first.problem });
      } else check(await visit(context, rival, CHAT, context.pace.warmUpMs));
      const before = await rival.process.ask('rss');
      const { held, problem } = await hold(streams);
      await pause(1_000);
      const after = await rival.process.ask('rss');
      await context.load.ask('release');
      check({ completed: held, problem });
      add(rival, 'kilobytes', (after - before) / held / 1_024);
      add(rival, 'held', held);
      await pause(500);
    });
    return rival;
  });
}
