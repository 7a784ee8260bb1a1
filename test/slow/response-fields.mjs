// node test/slow/response-fields.mjs: 100,000 values of response fields through every framework of the site suite and over HTTP/2, read
// from bare sockets.
// FIELD_VALUES and FIELD_SEED set their number and their seed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { FIELD_VALUES = '100000', FIELD_SEED = String(Date.now() % 1_000_000_007) } = process.env;

process.stdout.write(`response fields (Node ${process.version}): ${FIELD_VALUES} values a site, seed ${FIELD_SEED}\n`);
const vitest = spawn(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/site', 'test/adapters/node-http2', '-t', 'response fields'],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, FIELD_VALUES, FIELD_SEED } },
);
const [status] = await once(vitest, 'close');
process.exitCode = status ?? 1;
