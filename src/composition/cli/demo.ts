import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Command,
  failure,
  type ListeningPlace,
  listeningAddress,
  type Terminal,
  whileListening,
} from './command-line.js';

/** The part of the demo that is used: `examples/start-demo.ts`, bundled with its dependencies. */
interface DemoModule {
  readonly startDemo: (
    options: ListeningPlace,
  ) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>;
}

const MANIFEST = pathToFileURL(createRequire(import.meta.url).resolve('agent-bff/package.json'));
const START = new URL('examples/dist/demo/start-demo.js', MANIFEST);
const PAGE = new URL('examples/dist/web/index.html', MANIFEST);

/** The command `demo`, which runs until it is stopped. */
export const DEMO: Command = {
  summary: 'shows a site, an agent platform and a sign-in, all on this machine',
  help: `agent-bff demo [--port N] [--host H]

Shows a site, an agent platform and a sign-in, all on this machine and with keys of this run only.

  --port N   port of the site; default PORT of the environment, else 3000; 0 takes any free port
  --host H   default HOST of the environment, else 127.0.0.1; 0.0.0.0 in a container; visitors then open http://localhost on the published port

Exit status: 0 it was stopped, 1 it cannot run, 2 the command line is invalid.`,
  run: demo,
};

async function demo(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: { port: { type: 'string' }, host: { type: 'string' } } });
  const address = listeningAddress(values, terminal.env, 3000);
  if (!existsSync(START) || !existsSync(PAGE)) {
    throw failure('the demo is not built; in a clone of the repository, `npm start` builds and starts it.');
  }
  const { startDemo } = (await import(START.href)) as DemoModule;
  return whileListening(address, async () => {
    const { url, close } = await startDemo(address);
    terminal.print(`agent-bff demo: ${url}`);
    await terminal.stopped;
    await close();
  });
}
