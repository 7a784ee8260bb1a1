import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { RIVALS, startRival } from './catalogue.mjs';
import { median, summary } from './statistics.mjs';

/** Maximum share of the processors that the host may take from this machine during a slice. Above it, everything costs a fifth more. */
const MAX_STOLEN = 0.1;
/** Servers whose times show the pace of the machine while those with few rounds are measured. */
const WITNESSES = 3;

/**
 * Starts rivals. One that does not start, or responds wrongly, is reported in its figures and takes no part. A quick run leaves out those
 * with few rounds.
 */
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
 * `entry`: `{ name, key?, label?, options?, gc?, few?, processes? }`; each process gets its own upstream address.
 * Processes of one server differ for their whole life in compiled code; with several, their sums are measured.
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
 * CPU time per request, and requests per second. A round of a rival consists of short slices, and the rivals alternate at every slice,
 * so that a disturbance of the machine affects all of them alike; `pacesOf` removes it.
 * `asked` describes the requests: `{ scenario, path, connections, fields, vary, fromCache }`, for all rivals or for each.
 * The first `uncounted` rounds do not count: a server of long messages keeps getting cheaper during them.
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
        // Targets do not name servers with few rounds.
        check(await warmUp(context, place, ask, rival.few ? 0 : longestWarmUpMs));
      }
    });
  }
  const found = [];
  for (const [present, times] of [
    [regulars, rounds],
    // Keeps some measured servers to follow the pace of the machine.
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
    // Forward and back, so that no server always follows the same one. A server with several processes uses another one for each slice.
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
 * Slowness of the machine in each round, from the other rivals: the geometric mean of their times, each divided by its own median.
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

/** Divides the pace of the machine out of a measure with one sample per rival and round. */
export function withoutPace(rivals, measure) {
  const sound = rivals.filter(({ problem }) => problem === undefined);
  const rounds = sound[0]?.samples[measure].map(
    (_sample, index) => new Map(sound.map((rival) => [rival, { cpu: Math.max(rival.samples[measure][index], 1) }])),
  );
  for (const [rival, paces] of sound.map((one) => [one, pacesOf(rounds, sound, one)])) {
    rival.samples[measure] = rival.samples[measure].map((sample, index) => sample / paces[index]);
  }
}

/** Figures of rivals as stored: the measures, or the problem. */
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

/** Runs a step for a rival without a problem, and records the problem if it fails. */
export async function guarded(rival, step) {
  if (rival.problem !== undefined) return;
  try {
    await step();
  } catch (error) {
    rival.problem = `failed: ${shortened(error)}`;
  }
}

/** One rival per name with the samples of `measureOnce`, which is called `times(name)` times or until a problem. */
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

/** @throws Error when a response was wrong, cut off or missing. */
export function check({ wrong = 0, dropped = 0, stuck = 0, completed = 1, missed = 0, problem }) {
  if (wrong > 0 || dropped > 0 || problem) throw new Error(`${wrong} wrong, ${dropped} cut off: ${problem}`);
  if (stuck > 0) throw new Error(`${stuck} never answered`);
  if (missed > 0) throw new Error(`${missed} of ${completed} responses were no cache hit`);
  if (completed === 0) throw new Error('nothing was answered');
}

/**
 * Warms a server up for a while, and up to a number of requests as far as they complete in time.
 * Short requests are compiled by their number; by time alone, a slower machine would measure colder servers.
 */
async function warmUp(context, place, ask, longestMs) {
  const { warmUpMs, warmUpAnswers } = context.pace;
  const result = await visit(context, place, ask, warmUpMs, warmUpAnswers, longestMs - warmUpMs);
  // Each variant must be requested at least once.
  return result.completed < (ask.vary ?? 0) ? visit(context, place, ask, 0, ask.vary) : result;
}

/** Sends requests for `ms`, and until at least `least` are complete, if that takes at most `moreMs`. */
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

/** Measures a slice, and once more if the host took too much processor time from this machine. */
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

/** Time a virtual machine has waited for its host, all processors together; 0 where the system does not report it. */
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
