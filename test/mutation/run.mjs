// npm run test:mutation: makes small changes to a folder of src, one at a time, and expects a test of the same layer to
// notice each. MUTATE=adapters/oauth names another folder or file than domain; arguments limit the tests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { ROOT } from '../../scripts/command.mjs';

const folder = process.env.MUTATE ?? 'domain';
const [layer] = folder.split('/');
const WORK = join(ROOT, 'reports/mutants', folder.replaceAll('/', '-'));
// More than cores: a change that stops a response is only waited for.
const PROCESSES = Number(process.env.PROCESSES ?? 4);

rmSync(WORK, { recursive: true, force: true });
mkdirSync(WORK, { recursive: true });

const names = folder.endsWith('.ts')
  ? [`src/${folder}`]
  : readdirSync(join(ROOT, 'src', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `src/${folder}/${name}`)
      .sort();
const sources = names.map((name) => ({ name, mutate: true, content: readFileSync(join(ROOT, name), 'utf8') }));
const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false };
const { files, mutants } = await new Instrumenter(silent).instrument(sources, {
  plugins: null,
  excludedMutations: [],
  ignorers: [],
});
const changes = mutants.filter(({ status }) => status !== 'Ignored');
writeFileSync(
  join(WORK, 'files.json'),
  JSON.stringify(Object.fromEntries(files.map(({ name, content }) => [join(ROOT, name), content]))),
);

const results = await Promise.all(Array.from({ length: PROCESSES }, (_, share) => run(share)));
report();

/** Runs a share of the changes: quick tests first, slow ones with what is left. */
async function run(share) {
  const path = join(WORK, `result-${share}.json`);
  const options = { share, processes: PROCESSES, layer, result: path, files: join(WORK, 'files.json'), quickMs: 60 };
  writeFileSync(
    path,
    JSON.stringify({
      noticed: {},
      reached: [],
      tried: [],
      idle: [],
      onImport: [],
      unfit: [],
      restarted: [],
      slow: [],
      done: [],
    }),
  );
  const quick = await runTests({ ...options, kind: 'quick' }, process.argv.slice(2));
  if (quick.slow.length === 0) return quick;
  writeFileSync(path, JSON.stringify({ ...quick, done: [] }));
  return runTests({ ...options, kind: 'slow' }, [...new Set(quick.slow.map((name) => name.split(' > ')[0]))]);
}

/** A change that ends the process, or never lets it go on, was noticed: the run goes on with the files that are left. */
async function runTests(options, files) {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const current = `${options.result}.current`;
  for (;;) {
    rmSync(current, { force: true });
    const child = spawn(process.execPath, [vitest, 'run', '--config=test/mutation/vitest.config.ts', ...files], {
      cwd: ROOT,
      env: { ...process.env, MUTANTS: JSON.stringify(options) },
      stdio: ['ignore', process.env.VERBOSE === '1' ? 'inherit' : 'ignore', 'inherit'],
    });
    const watchdog = setInterval(() => endIfStuck(current, options.kind === 'quick' ? 15_000 : 300_000), 2_000);
    const [code] = await once(child, 'exit');
    clearInterval(watchdog);
    const result = JSON.parse(readFileSync(options.result, 'utf8'));
    if (!existsSync(current)) {
      if (result.done.length > 0) return result;
      throw new Error(`The tests of test/${layer} ended with ${code} and without a result: run them by themselves.`);
    }
    const [id, test] = JSON.parse(readFileSync(current, 'utf8'));
    if (id === null) result.restarted.push(test);
    else result.noticed[id] = `${test} (ends the process)`;
    const noticed = `${options.result}.noticed`;
    const lines = existsSync(noticed) ? readFileSync(noticed, 'utf8').trim().split('\n') : [];
    for (const line of lines) Object.assign(result.noticed, Object.fromEntries([JSON.parse(line)]));
    writeFileSync(options.result, JSON.stringify(result));
  }
}

/** Ends the process of tests that has tried the same change for so long. */
function endIfStuck(current, longestMs) {
  if (!existsSync(current) || Date.now() - statSync(current).mtimeMs < longestMs) return;
  const [, , pid] = JSON.parse(readFileSync(current, 'utf8'));
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function report() {
  const noticed = Object.assign({}, ...results.map((result) => result.noticed));
  const of = (list) => new Set(results.flatMap((result) => result[list]));
  const [reached, tried, idle, imported] = ['reached', 'tried', 'idle', 'onImport'].map(of);
  const isOnce = (id) => (reached.has(id) ? idle.has(id) && !tried.has(id) : imported.has(id));
  const uncounted = new Set(changes.map(({ id }) => id).filter((id) => noticed[id] === undefined && isOnce(id)));
  const left = changes.filter(({ id }) => noticed[id] === undefined && !uncounted.has(id));
  const lines = [];
  for (const { id, fileName, location, replacement } of left) {
    const text = readFileSync(join(ROOT, fileName), 'utf8').split('\n');
    const { start, end } = location;
    const original =
      start.line === end.line
        ? text[start.line].slice(start.column, end.column)
        : `${text[start.line].slice(start.column)} …`;
    const note = reached.has(id) ? '' : ' (no test gets here)';
    lines.push(`${fileName}:${start.line + 1}:${start.column + 1} ${original} → ${replacement}${note}`);
  }
  writeFileSync(join(WORK, 'left.txt'), `${lines.join('\n')}\n`);

  const perFile = names.map((name) => {
    const counted = changes.filter(({ fileName, id }) => fileName === name && !uncounted.has(id));
    return [name, counted.filter(({ id }) => noticed[id] !== undefined).length, counted.length];
  });
  for (const [name, killed, all] of perFile)
    console.log(`${String(killed).padStart(5)} of ${String(all).padStart(5)}  ${name}`);
  const counted = changes.length - uncounted.size;
  const percent = ((100 * (counted - left.length)) / counted).toFixed(1);
  console.log(
    `${folder}: ${counted - left.length} of ${counted} noticed (${percent} %); ${uncounted.size} run once per process and are not counted`,
  );
  const unfit = [...new Set(results.flatMap((result) => result.unfit))];
  if (unfit.length > 0) console.log(`tests that are not used:\n  ${unfit.join('\n  ')}`);
  console.log(`what is left: ${join('reports/mutants', folder.replaceAll('/', '-'), 'left.txt')}`);
}
