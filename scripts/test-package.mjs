// npm run test:package [-- --packed FOLDER --shots FOLDER]: installs the packages that `npm run pack` left in a folder (without one
// they are packed first) in a new folder like a site, and uses them there: with import and require on every supported Node, and from
// TypeScript in every way a site may be set up. Also visits in Chromium the installed demo on four Nodes, with the whole suite of the
// demo on this one, the starters, and the pages of docs/chat.md.
import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { summary } from '../test/package/blocks.mjs';
import { npm, ROOT, run, runNode } from './command.mjs';
import { ensureInstalled } from './installation.mjs';
import { NODE_LINES, nodeOf, temporaryFolder } from './temporary-site.mjs';

/** The Node lines that run the demo, besides the one that runs this script. */
const DEMO_LINES = NODE_LINES.slice(0, 3);
const { shots, packed } = parseArgs({ options: { shots: { type: 'string' }, packed: { type: 'string' } } }).values;
const INSTALL = ['install', '--no-audit', '--no-fund'];
const CLI = 'node_modules/agent-bff/dist/composition/cli.js';
const DEMO_SUITE = ['test/e2e/demo/'];
const COMPILERS = ['typescript', 'typescript6', 'typescript5'];
const SETTINGS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext', lib: ['ES2023'] },
  'nodenext with the DOM': { module: 'nodenext', moduleResolution: 'nodenext', lib: ['ES2023', 'DOM', 'DOM.Iterable'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', lib: ['ES2023'] },
};
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { dependencies, devDependencies } = JSON.parse(
  readFileSync(join(ROOT, 'test/site/frameworks/package.json'), 'utf8'),
);
const versionOf = (name) => manifest.devDependencies[name].replace(/^npm:.*@/, '');

await ensureInstalled();
const folder = temporaryFolder('package');
cpSync(join(ROOT, 'test/package'), folder, { recursive: true });

const given = packed ?? join(folder, 'packed');
if (packed === undefined && (await runNode(join(ROOT, 'scripts/pack.mjs'), [given])) !== 0) process.exit(1);
const [filename, components] = ['agent-bff', 'agent-bff-react'].map((name) => `${name}-${manifest.version}.tgz`);
for (const file of [filename, components]) cpSync(join(given, file), join(folder, file));
const { size } = lstatSync(join(folder, filename));
writeFileSync(join(folder, 'package.json'), '{ "name": "a-site", "private": true, "type": "module" }\n');
npm([...INSTALL, '--omit=dev', `./${filename}`], folder);
const own = installed();
const trials = [];
const record = { BLOCKS_RUN: join(folder, 'blocks-run') };
await trial('links of the documents', () => runNode('links.mjs', ['agent-bff', ROOT], { cwd: folder }));
for (const file of [filename, components])
  await trial(`publint and attw, ${file}`, async () => {
    const publint = join(ROOT, 'node_modules/publint/src/cli.js');
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    const status = await runNode(publint, [file, '--strict'], { cwd: folder });
    return status || runNode(attw, [file, '--profile', 'esm-only'], { cwd: folder });
  });
const pictures = shots === undefined ? [] : ['--shots', resolve(shots)];
await trial(`agent-bff demo on node ${process.versions.node}`, () => visitDemo(pictures));
for (const version of DEMO_LINES)
  await trial(`agent-bff demo on node ${version}`, async () => visitDemo(['--node', await nodeOf(version)]));
await trial('the suite of the demo, with the installed demo', () =>
  runNode(join(ROOT, 'node_modules/vitest/vitest.mjs'), ['run', '--reporter=dot', ...DEMO_SUITE], {
    cwd: ROOT,
    env: { DEMO_MODULE: join(folder, 'node_modules/agent-bff/examples/dist/demo/start-demo.js') },
  }),
);
// Mostly waits for the registry, in folders of its own, so the rest goes on meanwhile.
const pages = trial('the pages of docs/chat.md', () =>
  runNode(join(ROOT, 'test/package/pages.mjs'), [filename, components], { cwd: folder, env: record }),
);
const packages = [
  `express@${versionOf('express')}`,
  `express4@npm:express@${versionOf('express4')}`,
  `typescript@${versionOf('typescript')}`,
  'typescript6@npm:@typescript/typescript6@6.0.2',
  'typescript5@npm:typescript@5.9.3',
  `@types/express@${versionOf('@types/express')}`,
  '@types/express4@npm:@types/express@4.17.25',
  `@types/node@${versionOf('@types/node')}`,
  'cors',
  ...['koa', '@koa/router', '@types/koa'].map((name) => `${name}@${{ ...dependencies, ...devDependencies }[name]}`),
];
npm([...INSTALL, ...packages], folder);

for (const [name, settings] of Object.entries(SETTINGS)) {
  for (const compiler of COMPILERS)
    await trial(`${compilerName(compiler)}, ${name}`, () => compile(compiler, settings));
}
await trial('node 18 is rejected with the version to install', async () => {
  const { status, stderr } = spawnSync(await nodeOf('18.20.8'), [CLI, 'doctor'], { cwd: folder, encoding: 'utf8' });
  return status === 1 && /^agent-bff: Node 18\.20\.8 is too old\. Install Node 20\.19 or newer\.\n$/.test(stderr)
    ? 0
    : 1;
});
await trial('the servers of the documents', () => runNode('servers.mjs', [ROOT], { cwd: folder, env: record }));
for (const version of [process.versions.node, ...NODE_LINES])
  await trial(`node ${version}`, async () => runTrials(await nodeOf(version)));
await trial('the starters of agent-bff init', () =>
  runNode(join(ROOT, 'test/package/starters.mjs'), ['express,koa,next', filename, components], { cwd: folder }),
);
await pages;
console.log(`\nblocks of code in the documents: ${summary(ROOT, record.BLOCKS_RUN)}`);

console.log(`\npacked: ${kilobytes(size)}; installed for production: ${own.packages} packages, ${own.megabytes} MB`);
for (const { name, status, seconds } of trials)
  console.log(`${name}: ${status === 0 ? 'passed' : `failed (status ${status})`} in ${seconds} s`);
process.exitCode = trials.every(({ status }) => status === 0) ? 0 : 1;

async function trial(name, work) {
  const began = performance.now();
  trials.push({ name, status: await work(), seconds: Math.round((performance.now() - began) / 1_000) });
}

async function compile(compiler, settings) {
  for (const [source, skipLibCheck] of [
    ['types.ts', false],
    ['types-koa.ts', true],
  ]) {
    const options = { ...settings, outDir: 'compiled', strict: true, target: 'ES2022', types: ['node'], skipLibCheck };
    const file = join(folder, 'tsconfig.json');
    writeFileSync(file, JSON.stringify({ compilerOptions: options, files: [source] }));
    const { bin } = JSON.parse(readFileSync(join(folder, 'node_modules', compiler, 'package.json'), 'utf8'));
    const program = join(folder, 'node_modules', compiler, bin.tsc ?? bin.tsc6);
    const status = await runNode(program, ['-p', file], { cwd: folder });
    if (status !== 0) return status;
  }
  return 0;
}

/** Every trial on one Node. */
async function runTrials(node) {
  for (const file of ['serve.mjs', 'require.cjs']) {
    const status = await run(node, [file], { cwd: folder });
    if (status !== 0) return status;
  }
  return 0;
}

function compilerName(name) {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
  return `TypeScript ${version}`;
}

/** The walk through the demo is driven by this Node, since only the demo itself must run on others. */
function visitDemo(options) {
  return runNode(join(ROOT, 'test/package/demo.mjs'), options, { cwd: folder });
}

/** The size of a production install: packages and megabytes on disk. */
function installed() {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'));
  const entries = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  // In blocks, as they are stored.
  const kilobyteCount = files.reduce((sum, file) => sum + Math.ceil(lstatSync(file).size / 4_096) * 4, 0);
  return { packages: Object.keys(lock.packages).length, megabytes: Math.round(kilobyteCount / 102.4) / 10 };
}

function kilobytes(bytes) {
  return `${Math.round(bytes / 1024)} kB`;
}
