// npm test [-- --all | vitest arguments]: installs and compiles what is missing, lists what this machine cannot test,
// runs vitest. Without arguments it runs the quick tests of vitest.config.ts; with arguments it selects from all tests.
// REQUIRE_ALL=1 turns everything skipped into a failure: a missing program, a skipped test.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { build } from './build.mjs';
import { ROOT, runNode } from './command.mjs';
import { CLIENTS, ensureInstalled, FRAMEWORKS } from './installation.mjs';
import { readTestReport } from './test-report.mjs';

const REPORT = join(ROOT, 'reports/tests.json');
const NEXT = join(ROOT, 'examples/next/node_modules');
const given = process.argv.slice(2);
const isQuick = given.length === 0;
const PROGRAMS = [
  { suites: 'Chromium', variable: 'CHROMIUM_PATH', names: ['chromium', 'chromium-browser', 'google-chrome'] },
  { suites: 'Firefox', variable: 'FIREFOX_PATH', names: ['firefox-esr', 'firefox'] },
  {
    suites: 'WebKit',
    variable: 'WEBKIT_DRIVER_PATH',
    names: ['WebKitWebDriver'],
    remedy: 'install webkit2gtk-driver or set WEBKIT_DRIVER_PATH',
  },
  { suites: 'WebKit', variable: 'XVFB_PATH', names: ['Xvfb'], remedy: 'install xvfb or set XVFB_PATH' },
  { suites: 'Redis', variable: 'REDIS_SERVER_PATH', names: ['redis-server'] },
  {
    suites: 'nginx',
    variable: 'NGINX_PATH',
    names: ['nginx'],
    // Debian's place for it is not on everyone's PATH.
    command: ['sh', '-c', 'PATH=$PATH:/usr/sbin nginx -v 2>/dev/null'],
    remedy: 'install nginx-light or set NGINX_PATH',
  },
  { suites: 'Keyv 6', variable: 'KEYV6_PATH', names: ['keyv'], folder: join(ROOT, 'temp/keyv6/node_modules') },
  {
    suites: 'Go',
    variable: 'GO_BINARY_PATH',
    names: ['go'],
    package: '/usr/share/gocode/src/google.golang.org/protobuf',
    remedy: 'install golang-go and golang-google-protobuf-dev or set GO_BINARY_PATH',
  },
  {
    suites: 'Python',
    variable: 'PYTHON3_PATH',
    names: ['python3 with pydantic and protobuf'],
    // Another Python may come first on the PATH, without the system's packages.
    command: ['/usr/bin/python3', '-c', 'import pydantic, google.protobuf'],
    remedy: 'install python3-pydantic and python3-protobuf or set PYTHON3_PATH',
  },
  { suites: 'Next', names: ['next'], folder: NEXT, remedy: 'run npm ci --prefix examples/next' },
];

const requireAll = process.env.REQUIRE_ALL === '1';
// The quick tests need no other program.
const missing = isQuick ? [] : PROGRAMS.filter((program) => !isPresent(program));
if (missing.length > 0) {
  const list = missing.map(({ suites, names }) => `${suites} suites (no ${names[0]} found)`).join(', ');
  console.log(`skipped on this machine: ${list}`);
  if (requireAll) {
    const remedies = missing
      .map(({ variable, names, remedy }) => remedy ?? `install ${names[0]} or set ${variable}`)
      .join('; ');
    fail(`REQUIRE_ALL=1 requires everything to run: ${remedies}.`);
  }
}

await ensureInstalled();
for (const folder of isQuick ? [FRAMEWORKS] : [FRAMEWORKS, CLIENTS]) await ensureInstalled(folder);
// The type tests and the tests of the built package read dist.
const buildStatus = await build('package', { onlyIfNeeded: true });
if (buildStatus === 0 && !isQuick) {
  for (const part of ['examples', 'web', 'demo']) await build(part, { onlyIfNeeded: true });
}
if (buildStatus !== 0) console.error('src does not compile (see above): the run continues, but will fail.');

mkdirSync(join(ROOT, 'reports'), { recursive: true });
rmSync(REPORT, { force: true });
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
const chosen = given.filter((argument) => argument !== '--all');
const status = await runNode(vitest, ['run', ...reporters, ...chosen], {
  cwd: ROOT,
  env: { ...process.env, TEST_TIER: isQuick ? 'quick' : 'all' },
});

if (status !== 0) process.exit(status);
if (buildStatus !== 0) fail('src does not compile.');
if (isQuick) console.log('These were the quick tests. All of them: npm test -- --all');
if (requireAll) {
  const { passed, skipped } = readTestReport(REPORT);
  if (passed === 0) fail('REQUIRE_ALL=1: the report names no passed test.');
  if (skipped.length > 0) fail(`REQUIRE_ALL=1 allows no skipped test:\n  ${skipped.join('\n  ')}`);
}

function isPresent(program) {
  const { variable, names, folder, command } = program;
  if (variable !== undefined && process.env[variable]) return true; // set explicitly: a wrong value must fail the tests, not skip them
  if (program.package !== undefined && !existsSync(program.package)) return false;
  if (command !== undefined) return spawnSync(command[0], command.slice(1)).status === 0;
  if (folder !== undefined) return names.every((name) => existsSync(join(folder, name)));
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  return folders.some((folder) =>
    names.some((name) => endings.some((ending) => isExecutable(join(folder, name + ending)))),
  );
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
