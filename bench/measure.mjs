import { setTimeout as pause } from 'node:timers/promises';
import { RIVALS, startRival } from './catalogue.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { summary } from './statistics.mjs';

const LEAD_IN_MS = 300;

/** Starts rivals; one that cannot be started, or answers wrongly, is reported in its figures and takes no part. A quick run leaves out those that take part in few rounds. */
export async function withRivals(context, entries, use) {
  const rivals = [];
  for (const entry of entries)
    if (entry.few !== true || context.pace.fewRounds > 0) rivals.push(await start(context, entry));
  try {
    return await use(rivals);
  } finally {
    await Promise.all(rivals.map(({ process }) => process?.close()));
  }
}

/** `entry`: `{ name, key?, label?, options?, gc?, few? }`; each process gets an address of the upstream for itself. */
async function start(context, entry) {
  const { name, key = name, label = RIVALS[name].label, options = {}, gc = false, few = false } = entry;
  const rival = { name, key, label, few, problem: undefined, samples: {} };
  try {
    const upstream = context.upstreamAddress(options.path ?? '/chat');
    rival.process = await startRival(name, { ...options, upstream }, { gc });
    rival.target = { host: '127.0.0.1', port: rival.process.facts.port };
  } catch (error) {
    rival.problem = `left out: ${shortened(error)}`;
  }
  return rival;
}

/**
 * CPU time per request, and requests per second: rounds A B C A B C …, so that what disturbs the machine disturbs everybody.
 * `asked` says what visitors ask: `{ scenario, path, connections, fields, vary }`, for all rivals or for each.
 */
export async function cpuRounds(context, rivals, asked, { perByte = false } = {}) {
  const askOf = (rival) => (typeof asked === 'function' ? asked(rival) : asked);
  const { seconds, rounds, fewRounds } = context.pace;
  for (const rival of rivals) {
    await guarded(rival, async () => {
      const ask = askOf(rival);
      check(await context.load.ask('once', { ...ask, target: rival.target, path: ask.path.replace('{n}', '000000') }));
      check(await warmUp(context, rival, ask));
    });
  }
  for (let round = 0; round < rounds; round += 1) {
    context.say(`round ${round + 1} of ${rounds}`);
    for (const rival of rivals) {
      if (rival.few && round >= fewRounds) continue;
      await guarded(rival, async () => {
        const { cpu, done, elapsedMs } = await measured(context, rival, askOf(rival), seconds * 1_000, perByte);
        add(rival, 'cpu', cpu / done);
        add(rival, 'rate', done / (elapsedMs / 1_000));
      });
    }
  }
}

/** Figures of rivals as they are kept: what was measured, or what went wrong. */
export function figures(rivals) {
  return rivals.map(({ name, key, label, problem, samples }) => ({
    key,
    name,
    label,
    ...(problem === undefined ? {} : { problem }),
    measures:
      problem === undefined
        ? Object.fromEntries(Object.entries(samples).map(([measure, list]) => [measure, summary(list)]))
        : {},
  }));
}

/** Runs a step for a rival that has no problem yet, and notes the one it meets. */
export async function guarded(rival, step) {
  if (rival.problem !== undefined) return;
  try {
    await step();
  } catch (error) {
    rival.problem = `failed: ${shortened(error)}`;
  }
}

export function add(rival, measure, value) {
  (rival.samples[measure] ??= []).push(value);
}

/** @throws Error when an answer was wrong, cut off or missing. */
export function check({ wrong = 0, dropped = 0, stuck = 0, completed = 1, problem }) {
  if (wrong > 0 || dropped > 0 || problem) throw new Error(`${wrong} wrong, ${dropped} cut off: ${problem}`);
  if (stuck > 0) throw new Error(`${stuck} never answered`);
  if (completed === 0) throw new Error('nothing was answered');
}

/**
 * Visitors until the compiler of a server has seen enough: for a while, and for so many answers as far as they come in time.
 * Short requests are compiled by their number; by time alone, a slower machine would measure colder servers.
 */
async function warmUp(context, rival, ask) {
  const { warmUpMs, warmUpAnswers, longestWarmUpMs } = context.pace;
  const moreMs = rival.few ? 0 : longestWarmUpMs - warmUpMs; // no target names those
  const result = await visit(context, rival, ask, warmUpMs, warmUpAnswers, moreMs);
  // Whoever asks for many things asks for each at least once.
  return result.completed < (ask.vary ?? 0) ? visit(context, rival, ask, 0, ask.vary) : result;
}

/** Visitors for a while, and until they have been answered at least `least` times, if that comes within `moreMs`. */
export async function visit(context, rival, ask, ms, least = 0, moreMs = 20_000) {
  await context.load.ask('start', { ...ask, target: rival.target });
  await pause(ms);
  for (let waited = 0; waited < moreMs; waited += 100) {
    const { completed, problem } = await context.load.ask('count');
    if (completed >= least || problem !== '') break;
    await pause(100);
  }
  return context.load.ask('stop');
}

async function measured(context, rival, ask, ms, perByte) {
  const { load } = context;
  await load.ask('start', { ...ask, target: rival.target });
  await pause(LEAD_IN_MS);
  const [cpuBefore, before] = await Promise.all([rival.process.ask('cpu'), load.ask('count')]);
  await pause(ms);
  const [cpuAfter, after] = await Promise.all([rival.process.ask('cpu'), load.ask('count')]);
  check(await load.ask('stop'));
  // Of long answers many are half done when the round ends, so their bytes are counted.
  const done = perByte
    ? (after.bytes - before.bytes) / SCENARIOS[ask.scenario].answer.length
    : after.completed - before.completed;
  return { cpu: cpuAfter - cpuBefore, done, elapsedMs: after.at - before.at };
}

function shortened(error) {
  return String(error.message).replaceAll(/\s+/g, ' ').slice(0, 160);
}
