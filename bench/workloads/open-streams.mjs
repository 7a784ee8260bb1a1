import { setTimeout as pause } from 'node:timers/promises';
import { add, check, figures, guarded, visit, withRivals } from '../measure.mjs';

const STREAMS = 5_000;
const MOST = 10_000;
/** A quick run looks at the first three. */
const COMPARED = ['ours-express', 'node-fetch', 'node-dispatch', 'ours-node', 'node-client', 'hono-proxy', 'nginx'];
const CHAT = { scenario: 'chat', path: '/api/a2a', connections: 50 };
const HOLD = { scenario: 'hold', path: '/api/a2a' };
/** A process needs two descriptors for each stream, and these for itself. */
const OWN_DESCRIPTORS = 100;

export const openStreams = {
  title: `Memory of ${STREAMS} open streams`,
  about:
    'Resident memory of the process while the streams are silent, less what it was after 2 s of chats, by stream; garbage is collected before each reading.',
  measures: { kilobytes: 'KB per open stream', held: '% of them held' },
  run: async (context) => {
    const notes = [];
    const all = [];
    const times = context.quick ? 1 : 3;
    for (const name of context.quick ? COMPARED.slice(0, 3) : COMPARED) {
      context.say(name);
      let kept;
      for (let time = 0; time < times; time += 1) {
        // A process that has had its memory once does not give it back: each time is a process of its own.
        const [rival] = await one(context, name, STREAMS);
        kept = merged(kept, rival);
        if (rival.problem !== undefined) break;
      }
      all.push(kept);
    }
    if (!context.quick) all.push(await most(context, notes));
    return { figures: figures(all), notes };
  },
};

/** As many streams as one process is meant to hold, or as the system lets it. */
async function most(context, notes) {
  const allowed = Math.floor((context.descriptors - OWN_DESCRIPTORS) / 2);
  if (allowed < MOST) {
    notes.push(`The system allows a process ${context.descriptors} file descriptors, two for a stream.`);
  }
  const streams = Math.min(allowed, MOST);
  context.say(`${streams} streams`);
  const [rival] = await one(context, 'ours-express', streams);
  return { ...rival, key: 'ours-express-most', label: `${rival.label}, ${streams} streams` };
}

function one(context, name, streams) {
  return withRivals(context, [{ name, options: { path: '/mixed' }, gc: true }], async ([rival]) => {
    await guarded(rival, async () => {
      check(await visit(context, rival, CHAT, context.pace.warmUpMs));
      const before = await rival.process.ask('rss');
      const ask = { ...HOLD, connections: streams, target: rival.target };
      const { held, problem } = await context.load.ask('hold', ask);
      await pause(1_000);
      const after = await rival.process.ask('rss');
      await context.load.ask('release');
      check({ completed: held, problem });
      add(rival, 'kilobytes', (after - before) / held / 1_024);
      add(rival, 'held', (held / streams) * 100);
      await pause(500);
    });
    return [rival];
  });
}

function merged(before, { key, name, label, problem, samples }) {
  const rival = before ?? { key, name, label, samples: {} };
  rival.problem = problem;
  for (const [measure, list] of Object.entries(samples)) for (const value of list) add(rival, measure, value);
  return rival;
}
