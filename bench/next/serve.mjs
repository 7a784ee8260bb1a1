// A production build of Next in its own process.
import { fileURLToPath } from 'node:url';
import next from 'next';
import { options, serve } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

process.env.BENCH_UPSTREAM = options.upstream;
process.env.BENCH_ANSWER = SCENARIOS.chat.answer.toString();
const app = next({ dev: false, dir: fileURLToPath(new URL('.', import.meta.url)) });
await app.prepare();
serve(app.getRequestHandler());
