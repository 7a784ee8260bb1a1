// npm pack, npm publish: installs and builds what is missing of the package, in a fresh clone too (decision 92).
import { build } from './build.mjs';
import { ensureInstalled } from './installation.mjs';

await ensureInstalled();
for (const part of ['package', 'web', 'demo']) process.exitCode ||= await build(part, { onlyIfNeeded: true });
