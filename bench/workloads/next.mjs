import { execFile } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { cpuRounds, figures, withRivals } from '../measure.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'bench/next');
const PATHS = {
  'ours-next': '/api/a2a',
  'next-fetch': '/api/fetch',
  'next-passthrough': '/api/passthrough/chat',
  'next-constant': '/api/constant',
};
const exec = promisify(execFile);

export const next = {
  title: 'The chat of 1 KB in a production build of Next',
  about: '50 kept connections; each route in a process of its own.',
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  plot: 'cpu',
  run: async (context) => {
    context.say('next build');
    linkPackage();
    const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
    await exec(process.execPath, ['node_modules/next/dist/bin/next', 'build'], { cwd: FOLDER, env });
    const entries = Object.keys(PATHS).map((name) => ({ name, processes: 2 }));
    return withRivals(context, entries, async (rivals) => {
      await cpuRounds(context, rivals, ({ name }) => ({ scenario: 'chat', path: PATHS[name], connections: 50 }));
      return { figures: figures(rivals) };
    });
  },
};

/** The package as a site finds it. Not a dependency: a lock file would repeat this repository's own dependencies. */
function linkPackage() {
  const link = join(FOLDER, 'node_modules/agent-bff');
  rmSync(link, { force: true });
  symlinkSync(ROOT, link, 'junction');
}
