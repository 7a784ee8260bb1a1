// npm start: installs and builds what is missing, then runs the example site in this very process, so that
// signals reach it and its exit status is ours.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';

const site = new URL('../examples/dist/start.js', import.meta.url);

await ensureInstalled();
for (const part of ['package', 'examples', 'web']) {
  const status = await build(part, { onlyIfNeeded: true });
  if (status !== 0) process.exit(status);
}
if (!existsSync(site)) {
  console.error('examples/start.ts did not compile to examples/dist/start.js; is it there?');
  process.exit(1);
}
stopWithShell();
process.argv[1] = fileURLToPath(site);
await import(site.href);

/** npm hands SIGTERM to the shell between us only, and the shell keeps it: when that one is gone, the signal was ours. */
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
