// npm run test:engines [-- vitest arguments]: the browser tests of agent-bff-react in every engine that is installed.
import { fileURLToPath } from 'node:url';
import { runNode } from './command.mjs';

const chosen = process.argv.slice(2);
process.exitCode = await runNode(
  fileURLToPath(new URL('test.mjs', import.meta.url)),
  chosen.length > 0 ? chosen : ['test/e2e/react'],
  { env: { ...process.env, ENGINES: 'all' } },
);
