import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { RIVALS, startRival } from './catalogue.mjs';
import { median, summary } from './statistics.mjs';

/** What part of the processors the host may take from this machine during a slice: beyond it, everything costs a fifth more. */
const MAX_STOLEN = 0.1;
/** Servers that tell the pace of the machine while those are measured that take part in few rounds. */
const WITNESSES = 3;

/** Starts rivals; one that cannot be started, or answers wrongly, is reported in its figures and takes no part. A quick run leaves out those that take part in few rounds. */
export async function withRivals(context, entries, use) {
  const rivals = [];
  for (const entry of entries)
    if (entry.few !== true || context.pace.fewRounds > 0) rivals.push(await start(context, entry));
  try {
    return await use(rivals);
  } finally {
    await Promise.all(rivals.flatMap(({ places }) => places.map(({ process }) => process.close())));
  }
}

/**
 * `entry`: `{ name, key?, label?, options?, gc?, few?, processes? }`; each process gets an address of the upstream for itself.
 * Processes of one server differ for as long as they live, by what the compiler made of them: with several, their sums are measured.
 */
async function start(context, entry) {
  const { name, key = name, label = RIVALS[name].label, options = {}, gc = false, few = false, processes = 1 } = entry;
  const rival = { name, key, label, few, problem: undefined, samples: {}, places: [] };
  try {
    for (let number = 1; number <= (context.quick ? 1 : processes); number += 1) {
      const upstream = context.upstreamAddress(options.path ?? '/chat');
      const process = await startRival(name, { ...options, upstream }, { gc });
      const target = { host: '127.0.0.1', port: process.facts.port };
      rival.places.push({ process, target, key: number === 1 ? key : `${key} ${number}` });
    }
    Object.assign(rival, { process: rival.places[0].process, target: rival.places[0].target });
  } catch (error) {
    rival.problem = `left out: ${shortened(error)}`;
  }
  return rival;
}

/**
 * CPU time per request, and requests per second. A round of a rival is put together from short slices, and all take turns at every slice,
 * so that what disturbs the machine for a moment, or for some seconds, disturbs everybody alike; that part is taken out (see `pacesOf`).
 * `asked` says what visitors ask: `{ scenario, path, connections, fields, vary, fromCache }`, for all rivals or for each.
 * Before the rounds that count come some that do not (`uncounted`): a server of long messages goes on getting cheaper for as long.
 */
export async function cpuRounds(
  context,
  rivals,
  asked,
  { sliceMs = context.pace.sliceMs, longestWarmUpMs = context.pace.longestWarmUpMs, uncounted = 1 } = {},
) {
  const askOf = (rival) => (typeof asked === 'function' ? asked(rival) : asked);
  const { rounds, fewRounds } = context.pace;
  const regulars = rivals.filter(({ few }) => !few);
  for (const rival of rivals) {
    await guarded(rival, async () => {
      const ask = askOf(rival);
      for (const place of rival.places) {
        const path = ask.path.replace('{n}', '000000');
        check(await context.load.ask('once', { ...ask, target: place.target, path }));
        // No target names those that take part in few rounds.
        check(await warmUp(context, place, ask, rival.few ? 0 : longestWarmUpMs));
      }
    });
  }
  const found = [];
  for (const [present, times] of [
    [regulars, rounds],
    // Some of those that were measured stay, to tell the pace.
    [[...regulars.slice(0, WITNESSES), ...rivals.filter(({ few }) => few)], fewRounds],
  ]) {
    if (times === 0 || (present.length <= WITNESSES && found.length > 0)) continue;
    for (let round = 0; found.length === 0 && round < uncounted; round += 1) {
      context.say('a round that does not count');
      await oneRound(context, present, askOf, sliceMs);
    }
    for (let round = 0; round < times; round += 1) {
      context.say(`round ${round + 1} of ${times}`);
      found.push(await oneRound(context, present, askOf, sliceMs));
    }
  }
  for (const rival of rivals.filter(({ problem }) => problem === undefined)) {
    const paces = pacesOf(found, regulars, rival);
    for (const [index, round] of found.entries()) {
      if (!round.has(rival)) continue;
      const { cpu, rate } = round.get(rival);
      add(rival, 'cpu', cpu / paces[index]);
      add(rival, 'rate', rate * paces[index]);
    }
    for (const { key } of rival.places) await context.load.ask('stop', { crowd: key });
  }
}

/** CPU time per request and requests per second of each rival. */
async function oneRound(context, rivals, askOf, sliceMs) {
  const present = rivals.filter(({ problem }) => problem === undefined);
  const sums = new Map(present.map((rival) => [rival, { cpu: 0, completed: 0, elapsedMs: 0 }]));
  for (let slice = 0; slice < context.pace.roundMs / sliceMs; slice += 1) {
    // There and back: nobody always comes after the same one. A server of several processes is asked for each slice in another.
    for (const rival of slice % 2 === 0 ? present : present.toReversed()) {
      const place = rival.places[slice % rival.places.length];
      await guarded(rival, async () =>
        addTo(sums.get(rival), await undisturbed(context, place, askOf(rival), sliceMs)),
      );
    }
  }
  const figureOf = ({ cpu, completed, elapsedMs }) => ({ cpu: cpu / completed, rate: completed / (elapsedMs / 1_000) });
  return new Map([...sums].map(([rival, sum]) => [rival, figureOf(sum)]));
}

/**
 * How slow the machine was in each round, as the other rivals tell: the geometric mean of what they took, each as a part of its own median.
 * Neighbours on the same host slow a virtual machine down by a fifth for half a minute, and everything on it alike.
 */
function pacesOf(rounds, regulars, rival) {
  const others = regulars.filter((other) => other !== rival && other.problem === undefined);
  const medians = new Map(
    others.map((other) => [other, median(rounds.flatMap((round) => round.get(other)?.cpu ?? []))]),
  );
  return rounds.map((round) => {
    const parts = others.flatMap((other) =>
      round.has(other) ? [Math.log(round.get(other).cpu / medians.get(other))] : [],
    );
    return parts.length === 0 ? 1 : Math.exp(parts.reduce((sum, part) => sum + part, 0) / parts.length);
  });
}

/** Takes the pace of the machine out of a measure of which each rival has one sample for each round. */
export function withoutPace(rivals, measure) {
  const sound = rivals.filter(({ problem }) => problem === undefined);
  const rounds = sound[0]?.samples[measure].map(
    (_sample, index) => new Map(sound.map((rival) => [rival, { cpu: Math.max(rival.samples[measure][index], 1) }])),
  );
  for (const [rival, paces] of sound.map((one) => [one, pacesOf(rounds, sound, one)])) {
    rival.samples[measure] = rival.samples[measure].map((sample, index) => sample / paces[index]);
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

/** One rival for each name: the samples of `measureOnce`, which is called as often as `times` says for the name, until one has a problem. */
export async function repeatedly(context, names, times, measureOnce) {
  const found = [];
  for (const name of names) {
    context.say(name);
    const merged = { samples: {} };
    for (let time = 0; time < (context.quick ? 1 : times(name)) && merged.problem === undefined; time += 1) {
      const { samples, ...rival } = await measureOnce(name);
      Object.assign(merged, rival);
      for (const [measure, list] of Object.entries(samples)) for (const value of list) add(merged, measure, value);
    }
    found.push(merged);
  }
  return found;
}

export function add(rival, measure, value) {
  (rival.samples[measure] ??= []).push(value);
}

/** @throws Error when an answer was wrong, cut off or missing. */
export function check({ wrong = 0, dropped = 0, stuck = 0, completed = 1, missed = 0, problem }) {
  if (wrong > 0 || dropped > 0 || problem) throw new Error(`${wrong} wrong, ${dropped} cut off: ${problem}`);
  if (stuck > 0) throw new Error(`${stuck} never answered`);
  if (missed > 0) throw new Error(`${missed} of ${completed} responses were no cache hit`);
  if (completed === 0) throw new Error('nothing was answered');
}

/**
 * Visitors until the compiler of a server has seen enough: for a while, and for so many answers as far as they come in time.
 * Short requests are compiled by their number; by time alone, a slower machine would measure colder servers.
 */
async function warmUp(context, place, ask, longestMs) {
  const { warmUpMs, warmUpAnswers } = context.pace;
  const result = await visit(context, place, ask, warmUpMs, warmUpAnswers, longestMs - warmUpMs);
  // Whoever asks for many things asks for each at least once.
  return result.completed < (ask.vary ?? 0) ? visit(context, place, ask, 0, ask.vary) : result;
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

/** A slice during which the host left this machine its processors; when it does not, the one after. */
export async function undisturbed(context, place, ask, ms) {
  const slice = await measured(context, place, ask, ms);
  return slice.stolen <= MAX_STOLEN ? slice : measured(context, place, ask, ms);
}

async function measured({ load }, { key: crowd, target, process }, ask, ms) {
  await load.ask('gather', { ...ask, crowd, target });
  const stolenBefore = stolenMs();
  const cpuBefore = await process.ask('cpu');
  const slice = await load.ask('slice', { crowd, ms });
  const cpu = (await process.ask('cpu')) - cpuBefore;
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
