import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type ListeningPlace, listeningPlace, whileListening } from './listening-place.js';
import type { Terminal } from './terminal.js';

interface Demo {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** The part of the demo that is used: `examples/start-demo.ts`, with all it runs on. */
interface DemoModule {
  readonly startDemo: (options: ListeningPlace) => Promise<Demo>;
}

const MANIFEST = pathToFileURL(createRequire(import.meta.url).resolve('agent-bff/package.json'));
const DEMO = new URL('examples/dist/demo/start-demo.js', MANIFEST);
const PAGE = new URL('examples/dist/web/index.html', MANIFEST);

/** Runs `demo`, until it is told to stop. */
export async function demoCommand(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: { port: { type: 'string' }, host: { type: 'string' } } });
  const place = listeningPlace(values, terminal.env, 3000);
  if (!existsSync(DEMO) || !existsSync(PAGE)) {
    terminal.complain(
      'agent-bff: the demo is not built; in a clone of the repository, `npm start` builds and starts it.',
    );
    return 1;
  }
  const { startDemo } = (await import(DEMO.href)) as DemoModule;
  return whileListening(place, terminal, async () => {
    const { url, close } = await startDemo(place);
    terminal.print(`agent-bff demo: ${url}`);
    await terminal.stopped;
    await close();
  });
}
