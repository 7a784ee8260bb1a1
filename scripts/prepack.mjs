// npm pack, npm publish: installs and builds what the package needs, in a fresh clone too (decision 92).
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';

await ensureInstalled();
const parts = process.argv.includes('react') ? ['react'] : ['package', 'web', 'demo'];
for (const part of parts) process.exitCode ||= await build(part, { onlyIfNeeded: true });
