// npm run test:matrix [-- vitest arguments]: runs the suite on every Node line, with one line per version at the end.
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { run } from './command.mjs';
import { CLIENTS, ensureInstalled, FRAMEWORKS } from './installation.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VERSIONS = ['20.19.0', '22.23.3', '24.21.0', '26.10.0'];

await ensureInstalled();
for (const folder of [FRAMEWORKS, CLIENTS]) await ensureInstalled(folder);
const built = await build('package', { onlyIfNeeded: true });
if (built !== 0) process.exit(built);

const vitest = ['node', 'node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...process.argv.slice(2)];
const results = [];
for (const version of VERSIONS) {
  const started = Date.now();
  // Without its binary, the package would silently use the installed Node.
  const isThisVersion = `process.exit(process.version === 'v${version}' ? 0 : 9)`;
  const command = `node -e "${isThisVersion}" && ${vitest.map((word) => JSON.stringify(word)).join(' ')}`;
  const status = await run('npx', ['-y', '-p', `node@${version}`, '-c', command], {
    cwd: ROOT,
    // The package's install script provides the binary; .npmrc disables install scripts for everything else.
    env: { npm_config_ignore_scripts: 'false' },
    shell: process.platform === 'win32',
  });
  results.push({ version, status, seconds: Math.round((Date.now() - started) / 1000) });
}
for (const { version, status, seconds } of results) {
  console.log(`node ${version}: ${status === 0 ? 'passed' : `failed (status ${status})`} in ${seconds} s`);
}
process.exitCode = results.every(({ status }) => status === 0) ? 0 : 1;
