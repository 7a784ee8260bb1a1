import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { RIVALS, startRival } from './catalogue.mjs';
import { summary } from './statistics.mjs';

/** What part of the processors the host may take away from this machine during a slice that counts. */
const MOST_STOLEN = 0.05;

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
 * CPU time per request, and requests per second. A round of a rival is put together from short slices, and all take turns at every slice,
 * so that what disturbs the machine for a moment, or for some seconds, disturbs everybody alike.
 * `asked` says what visitors ask: `{ scenario, path, connections, fields, vary }`, for all rivals or for each.
 */
export async function cpuRounds(context, rivals, asked, { sliceMs = context.pace.sliceMs } = {}) {
  const askOf = (rival) => (typeof asked === 'function' ? asked(rival) : asked);
  const { roundMs, rounds, fewRounds } = context.pace;
  for (const rival of rivals) {
    await guarded(rival, async () => {
      const ask = askOf(rival);
      check(await context.load.ask('once', { ...ask, target: rival.target, path: ask.path.replace('{n}', '000000') }));
      check(await warmUp(context, rival, ask));
    });
  }
  for (let round = 0; round < rounds; round += 1) {
    context.say(`round ${round + 1} of ${rounds}`);
    const present = rivals.filter(({ few, problem }) => problem === undefined && (!few || round < fewRounds));
    const sums = new Map(present.map((rival) => [rival, { cpu: 0, completed: 0, elapsedMs: 0 }]));
    for (let slice = 0; slice < roundMs / sliceMs; slice += 1) {
      // There and back: nobody always comes after the same one.
      for (const rival of slice % 2 === 0 ? present : present.toReversed()) {
        await guarded(rival, async () =>
          addTo(sums.get(rival), await undisturbed(context, rival, askOf(rival), sliceMs)),
        );
      }
    }
    for (const [rival, { cpu, completed, elapsedMs }] of sums) {
      if (rival.problem !== undefined) continue;
      add(rival, 'cpu', cpu / completed);
      add(rival, 'rate', completed / (elapsedMs / 1_000));
    }
  }
  for (const rival of rivals) if (rival.problem === undefined) await context.load.ask('stop', { crowd: rival.key });
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
  const crowd = rival.key ?? 'direct';
  await context.load.ask('start', { ...ask, crowd, target: rival.target });
  await pause(ms);
  for (let waited = 0; waited < moreMs; waited += 100) {
    const { completed, problem } = await context.load.ask('count', { crowd });
    if (completed >= least || problem !== '') break;
    await pause(100);
  }
  return context.load.ask('stop', { crowd });
}

/** A slice in which the host left this machine its processors; the last of three when it never does. */
async function undisturbed(context, rival, ask, ms) {
  let slice;
  for (let left = 3; left > 0; left -= 1) {
    slice = await measured(context, rival, ask, ms);
    if (slice.stolen <= MOST_STOLEN) break;
  }
  return slice;
}

async function measured({ load }, rival, ask, ms) {
  const crowd = rival.key;
  await load.ask('gather', { ...ask, crowd, target: rival.target });
  const stolenBefore = stolenMs();
  const cpuBefore = await rival.process.ask('cpu');
  const slice = await load.ask('slice', { crowd, ms });
  const cpu = (await rival.process.ask('cpu')) - cpuBefore;
  check(slice);
  const { completed, elapsedMs } = slice;
  return { cpu, completed, elapsedMs, stolen: (stolenMs() - stolenBefore) / (elapsedMs * availableParallelism()) };
}

function addTo(sum, slice) {
  for (const name of Object.keys(sum)) sum[name] += slice[name];
}

/** How long a virtual machine has waited for its host, all processors together; 0 where the system does not tell. */
function stolenMs() {
  try {
    // Linux counts hundredths of a second.
    return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/)[8]) * 10;
  } catch {
    return 0;
  }
}

function shortened(error) {
  return String(error.message).replaceAll(/\s+/g, ' ').slice(0, 160);
}
