// npm run test:installs [-- --tarball FILE] [name …]: the packed package in every runtime, bundler and test runner that people use,
// with and without Redis. A site is started, and a visitor reads its configuration, sends a message and opens a widget.
// Tools come into a temporary folder. Its results are written into the table of docs/deployment.md.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPlatform, startRedis, visit, withSite } from '../test/package/installs/visit.mjs';
import { ROOT } from './command.mjs';
import { writeTable } from './generated-table.mjs';
import { ensureInstalled } from './installation.mjs';
import { install, NODE_LINES, nodeOf, quietly, temporaryFolder } from './temporary-site.mjs';

const NODE = process.execPath;
const FILES = join(ROOT, 'test/package/installs');
const { values, positionals: chosen } = parseArgs({
  options: { tarball: { type: 'string' } },
  allowPositionals: true,
});
/** Versions of what the package is installed with. */
const TOOLS = {
  '@babel/preset-env': '7.29.14',
  '@rollup/plugin-commonjs': '29.0.3',
  '@rollup/plugin-json': '6.1.0',
  '@rollup/plugin-node-resolve': '16.0.3',
  '@types/jest': '30.0.0',
  '@types/node': '20.19.43',
  '@yarnpkg/cli-dist': '4.18.1',
  bun: '1.4.5',
  deno: '2.9.6',
  esbuild: '0.28.2',
  jest: '30.5.2',
  pnpm: '12.21.0',
  rollup: '4.68.8',
  'ts-jest': '29.4.15',
  typescript: '5.9.3',
  typescript6: 'npm:typescript@6.0.3',
  typescript7: 'npm:typescript@7.0.2',
  vite: '8.3.8',
  webpack: '5.112.2',
};
const NEXT = { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' };
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const REDIS = `@keyv/redis@${manifest.devDependencies['@keyv/redis']}`;
const KEYV = manifest.dependencies.keyv;
const transformIgnorePatterns = ['/node_modules/(?!(agent-bff|@csstools|jose|oauth4webapi|openid-client)/)'];

await ensureInstalled();
const folder = temporaryFolder('installs');
cpSync(join(ROOT, 'test/package'), join(folder, 'tests'), { recursive: true });
const tarball = values.tarball === undefined ? await packed() : resolve(values.tarball);

/** The two sites: folders with the package installed, and with the library for Redis or without. */
const sites = { plain: await site('plain', [tarball]), redis: await site('redis', [tarball, REDIS]) };
const tools = await site(
  'tools',
  Object.entries(TOOLS).map(([name, version]) => `${name}@${version}`),
);
cpSync(join(FILES, 'bundle.mjs'), join(tools, 'bundle.mjs'));
const platform = await startPlatform();
const redis = await startRedis(process.env.REDIS_SERVER_PATH ?? 'redis-server');
const tool = (path) => join(tools, 'node_modules', path);

/** The trials: a name, a version, and the work with the library for Redis and without it. */
const TRIALS = [
  ...NODE_LINES.map((version) => ({
    name: 'Node, `import` and `require`',
    version,
    ...installed(
      async () => [await nodeOf(version), 'site.mjs'],
      async () => [await nodeOf(version), 'site.cjs'],
    ),
  })),
  { name: 'Bun', version: TOOLS.bun, ...installed(() => [tool('bun/bin/bun.exe'), 'site.mjs']) },
  {
    name: 'Deno',
    version: TOOLS.deno,
    ...installed(() => [NODE, tool('deno/bin.cjs'), 'run', '-A', '--node-modules-dir=manual', 'site.mjs']),
  },
  { name: 'pnpm', version: TOOLS.pnpm, ...withManager(pnpm) },
  { name: 'Yarn PnP', version: TOOLS['@yarnpkg/cli-dist'], ...withManager(yarn) },
  ...['typescript', 'typescript6', 'typescript7'].map((compiler) => ({
    name: 'TypeScript, `module: commonjs`',
    version: TOOLS[compiler].replace(/^.*@/, ''),
    ...installed((cwd) => compiled(compiler, cwd)),
  })),
  {
    name: 'Jest',
    version: TOOLS.jest,
    plain: () =>
      jest('jest', {
        transform: { '\\.js$': ['babel-jest', { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] }] },
      }),
  },
  {
    name: 'ts-jest',
    version: TOOLS['ts-jest'],
    plain: () => jest('ts-jest', { preset: 'ts-jest/presets/js-with-ts' }),
  },
  { name: 'esbuild, `format: cjs`', version: TOOLS.esbuild, ...bundled('esbuild --format=cjs', 'site.cjs') },
  { name: 'esbuild, `format: esm`', version: TOOLS.esbuild, ...bundled('esbuild --format=esm', 'site.mjs') },
  { name: 'Bun as bundler', version: TOOLS.bun, ...bundled('bun build', 'site.mjs') },
  { name: 'webpack', version: TOOLS.webpack, ...bundled('webpack', 'site.cjs', { beside: true }) },
  { name: 'Rollup', version: TOOLS.rollup, ...bundled('rollup', 'site.mjs') },
  { name: 'Vite SSR', version: TOOLS.vite, ...bundled('vite build --ssr', 'site.mjs', { beside: true }) },
  { name: 'Turbopack', version: `Next ${NEXT.next}`, ...turbopack() },
];

const results = [];
for (const trial of TRIALS) {
  if (chosen.length > 0 && !chosen.some((word) => trial.name.startsWith(word))) continue;
  const started = Date.now();
  const row = [trial.name, trial.version, await outcome(trial, 'plain'), await outcome(trial, 'redis')];
  results.push(row);
  console.log(`${row.join(' | ')} (${Math.round((Date.now() - started) / 1000)} s)`);
}
await platform.close();
redis.close();
await writeTable(
  join(ROOT, 'docs/deployment.md'),
  'installs',
  [['Where', 'Version', 'Without Redis', 'With `@keyv/redis`'], ...results],
  { partly: chosen.length > 0 },
);
process.exitCode = results.length > 0 && results.flat().every((cell) => cell !== '✗') ? 0 : 1;

async function outcome(trial, variant) {
  if (trial[variant] === undefined) return '–';
  try {
    await trial[variant]();
    return '✓';
  } catch (error) {
    console.error(`${trial.name}, ${variant}: ${error.message}\n${error.stdout ?? ''}`);
    return '✗';
  }
}

/** Both variants of commands that run where the package is installed. */
function installed(...commands) {
  const trial = (cwd, used) => async () => {
    for (const commandOf of commands) await started(await commandOf(cwd), cwd, used);
  };
  return { plain: trial(sites.plain), redis: trial(sites.redis, redis) };
}

/** Both variants of a bundle, which runs where nothing is installed, or `beside` the library for Redis. */
function bundled(bundler, file, { beside = false } = {}) {
  const trial = (variant, used) => async () => {
    const name = `${bundler.replace(/\W+/g, '-')}-${variant}`;
    const output = beside && used ? join(sites.redis, name) : join(folder, 'bundles', name);
    mkdirSync(output, { recursive: true });
    await quietly(NODE, [join(tools, 'bundle.mjs'), bundler, join(sites[variant], 'site.mjs'), output], tools);
    await started([NODE, file], output, used);
  };
  return { plain: trial('plain'), redis: trial('redis', redis) };
}

/** Both variants with another package manager, which installs into a folder of its own. */
function withManager(manager) {
  const trial = (name, packages, used) => async () => {
    const cwd = emptySite(`${manager.name}-${name}`);
    await started(await manager(cwd, packages), cwd, used);
  };
  return { plain: trial('plain', [tarball]), redis: trial('redis', [tarball, REDIS], redis) };
}

async function pnpm(cwd, packages) {
  await quietly(NODE, [tool('pnpm/bin/pnpm.mjs'), 'add', '--store-dir', join(folder, 'store'), ...packages], cwd);
  return [NODE, 'site.mjs'];
}

async function yarn(cwd, packages) {
  const program = tool('@yarnpkg/cli-dist/bin/yarn.js');
  writeFileSync(
    join(cwd, '.yarnrc.yml'),
    `nodeLinker: pnp\nenableGlobalCache: false\ncacheFolder: ${join(folder, 'yarn')}\nenableTelemetry: false\n`,
  );
  writeFileSync(join(cwd, 'yarn.lock'), '');
  const [own, ...others] = packages;
  // `@keyv/redis` needs Keyv from the package that installs it.
  if (others.length > 0) others.push(`keyv@${KEYV}`);
  await quietly(NODE, [program, 'add', `agent-bff@file:${own}`, ...others], cwd);
  return [NODE, program, 'node', 'site.mjs'];
}

/** A site in TypeScript, compiled to CommonJS and with the compiler's own resolution for that. */
async function compiled(compiler, cwd) {
  const output = join(cwd, `compiled-${compiler}`);
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, 'package.json'), '{ "type": "commonjs" }');
  cpSync(join(FILES, 'site.ts'), join(output, 'site.ts'));
  const options = {
    module: 'commonjs',
    target: 'es2022',
    strict: true,
    esModuleInterop: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [tool('@types')],
    // The deprecated resolution is still the one of this setting in version 6.
    ...(compiler === 'typescript6' ? { ignoreDeprecations: '6.0', moduleResolution: 'node10' } : {}),
  };
  writeFileSync(join(output, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['site.ts'] }));
  await quietly(NODE, [tool(`${compiler}/bin/tsc`), '-p', output], output);
  return [NODE, join(output, 'site.js')];
}

/** One test file that loads the package with `require`, and the configuration of docs/deployment.md, in a folder of its own. */
async function jest(name, configuration) {
  const own = ['jest', 'typescript', '@types/jest', '@types/node', name === 'jest' ? '@babel/preset-env' : 'ts-jest'];
  const cwd = await site(name, [tarball, ...own.map((id) => `${id}@${TOOLS[id]}`)]);
  cpSync(join(FILES, 'jest.js'), join(cwd, name === 'jest' ? 'site.test.js' : 'site.test.ts'));
  writeFileSync(join(cwd, 'package.json'), '{ "name": "a-site", "private": true }');
  const options = {
    module: 'commonjs',
    target: 'es2022',
    allowJs: true,
    esModuleInterop: true,
    isolatedModules: true,
    types: ['node', 'jest'],
  };
  writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions: options }));
  writeFileSync(join(cwd, 'jest.config.json'), JSON.stringify({ ...configuration, transformIgnorePatterns }));
  await quietly(NODE, [join(cwd, 'node_modules/jest/bin/jest.js')], cwd, platform.env);
}

/** A site of Next, whose bundler takes in the package. */
function turbopack() {
  const trial = (name, packages, used) => async () => {
    const cwd = await site(`next-${name}`, [
      ...packages,
      ...Object.entries(NEXT).map(([id, version]) => `${id}@${version}`),
    ]);
    cpSync(join(FILES, 'next'), cwd, { recursive: true });
    const next = [NODE, join(cwd, 'node_modules/next/dist/bin/next')];
    await quietly(next[0], [next[1], 'build', '--turbopack'], cwd, {
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
    });
    await started([...next, 'start', '--port', '0', '--hostname', '127.0.0.1'], cwd, used);
  };
  return { plain: trial('plain', [tarball]), redis: trial('redis', [tarball, REDIS], redis) };
}

/** Starts a site and visits it. */
function started(command, cwd, used) {
  return withSite(command, { cwd, env: { ...platform.env, ...used?.env } }, async (url) => {
    await visit(url);
    await used?.used();
  });
}

async function packed() {
  const output = await quietly('npm', ['pack', ROOT, '--json', '--pack-destination', folder], folder);
  return join(folder, JSON.parse(output)[0].filename);
}

/** A folder with packages installed, and the files of a site. */
async function site(name, packages) {
  const cwd = emptySite(name);
  await install(cwd, packages, '--legacy-peer-deps');
  return cwd;
}

function emptySite(name) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "name": "a-site", "private": true, "type": "module" }\n');
  for (const file of ['site.mjs', 'site.cjs']) cpSync(join(FILES, file), join(cwd, file));
  return cwd;
}
