// npm run test:engines [-- vitest arguments]: the browser tests of agent-bff-react in every engine that is installed, and in
// Chrome 123, which is downloaded. Without arguments, or with --table alone, which runs nothing, it writes the table of
// engines into docs/chat.md from the report.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { runnerImport } from 'vite';
import { ROOT, runNode, runNpm } from './command.mjs';
import { tableOf, writeGenerated } from './generated-table.mjs';

const CHROME = join(ROOT, 'temp/chrome-123');

const chosen = process.argv.slice(2);
const isTable = chosen[0] === '--table';
if (!isTable) {
  await downloadChrome();
  process.exitCode = await runNode(join(ROOT, 'scripts/test.mjs'), chosen.length > 0 ? chosen : ['test/e2e/react'], {
    env: { ...process.env, ENGINES: 'all' },
  });
}
if (isTable || chosen.length === 0) await writeTable();

/** The oldest Chrome that is supported, as packed for Linux on x64. */
async function downloadChrome() {
  const program = join(CHROME, 'chrome');
  if (existsSync(program) || process.platform !== 'linux' || process.arch !== 'x64') return;
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
  const status = await runNpm(['install', '--prefix', CHROME, ...options, '@sparticuz/chromium@123.0.1']);
  if (status !== 0) return;
  const packed = readFileSync(join(CHROME, 'node_modules/@sparticuz/chromium/bin/chromium.br'));
  writeFileSync(program, brotliDecompressSync(packed), { mode: 0o755 });
}

async function writeTable() {
  const { module } = await runnerImport(join(ROOT, 'test/support/engines/engines.ts'));
  const engines = [...module.ENGINES, ...module.OLDEST_ENGINES];
  const heads = [];
  for (const engine of engines) heads.push(await headOf(engine));
  const rows = rowsOf(JSON.parse(readFileSync(join(ROOT, 'reports/tests.json'), 'utf8')));
  if (rows.size === 0) throw new Error('The report has no test of the engines: run "npm run test:engines".');
  const lines = [...rows].map(([title, cells]) => [
    title,
    ...engines.map((engine) => cellOf(engine, cells.get(engine.name))),
  ]);
  await writeGenerated(join(ROOT, 'docs/chat.md'), { engines: tableOf([['', ...heads], ...lines]) });
}

async function headOf({ name, missing, launch }) {
  if (missing !== undefined) return name;
  const running = await launch();
  await running.close();
  return `${name.replace(/ [\d.]+$/, '')} ${running.version.replace(/^(\d+\.\d+).*/, '$1')}`;
}

/** The status of each test in each engine, by the title without the engine's name. */
function rowsOf({ testResults }) {
  const rows = new Map();
  for (const { assertionResults } of testResults) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      const [, suite, engine] = /^(.*), in (.*)$/.exec(ancestorTitles[0] ?? '') ?? [];
      if (suite === undefined) continue;
      const row = [suite, ...ancestorTitles.slice(1), title].join(' › ');
      rows.set(row, (rows.get(row) ?? new Map()).set(engine, status));
    }
  }
  // The other suites run in Chromium and Firefox only.
  for (const [row, cells] of rows) if (!cells.has('WebKitGTK')) rows.delete(row);
  return rows;
}

function cellOf({ missing, isSupported }, status) {
  if (status === 'passed') return 'passed';
  if (status === 'failed') return '**failed**';
  return missing === undefined && !isSupported ? 'too old' : 'not run';
}
