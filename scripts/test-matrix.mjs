// npm run test:matrix [-- vitest arguments]: runs the suite on every Node line, with one line per version at the end.
import { delimiter, dirname } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { ROOT, run } from './command.mjs';
import { CLIENTS, ensureInstalled, FRAMEWORKS } from './installation.mjs';
import { NODE_LINES, nodeOf } from './temporary-site.mjs';

await ensureBuilt('package');
for (const folder of [FRAMEWORKS, CLIENTS]) await ensureInstalled(folder);

const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...process.argv.slice(2)];
const results = [];
for (const version of NODE_LINES) {
  const started = Date.now();
  const node = await nodeOf(version);
  // Programs that the tests start are of the same version.
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const status = await run(node, vitest, { cwd: ROOT, env });
  results.push({ version, status, seconds: Math.round((Date.now() - started) / 1000) });
}
for (const { version, status, seconds } of results) {
  console.log(`node ${version}: ${status === 0 ? 'passed' : `failed (status ${status})`} in ${seconds} s`);
}
process.exitCode = results.every(({ status }) => status === 0) ? 0 : 1;
