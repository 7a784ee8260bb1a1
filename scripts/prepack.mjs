// npm pack, npm publish: installs, builds and documents what is missing, in a fresh clone too (decision 74).
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';

await ensureInstalled();
const parts = process.argv.includes('react') ? ['react'] : ['package', 'web', 'demo', 'reference'];
for (const part of parts) process.exitCode ||= await build(part, { onlyIfNeeded: true });
