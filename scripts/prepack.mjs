// npm pack, npm publish: installs, builds and documents what is missing, in a fresh clone too (decision 74).
import { ensureBuilt } from './build.mjs';

await ensureBuilt(...(process.argv.includes('react') ? ['react'] : ['package', 'web', 'demo', 'reference']));
