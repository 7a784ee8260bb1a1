// npm start: installs and builds what is missing, then runs the example site in this process, so that signals reach it
// and its exit status is ours.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from './build.mjs';

const site = new URL('../examples/dist/start.js', import.meta.url);

await ensureBuilt('package', 'examples', 'web');
if (!existsSync(site)) {
  console.error('examples/start.ts did not compile to examples/dist/start.js; is it there?');
  process.exit(1);
}
stopWithShell();
process.argv[1] = fileURLToPath(site);
await import(site.href);

/** npm sends SIGTERM only to the shell between, and the shell does not forward it: when the shell is gone, the signal was for us. */
function stopWithShell() {
  const shell = process.ppid;
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 200);
  watch.unref();
}
