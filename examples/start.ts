import { type Demo, startDemo } from './start-demo.js';
import { onStopRequest } from './stop-request.js';

const DEFAULT_PORT = 3000;

async function main(): Promise<void> {
  const port = readPort(process.env['PORT']);
  const demo = await startDemo({ port }).catch((error: unknown): never => giveUp(explainListenError(error, port)));
  onStopRequest(() => stop(demo));
  console.log(`agent-bff demo: ${demo.url}`);
}

async function stop(demo: Demo): Promise<never> {
  await demo.close();
  process.exit(0);
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    giveUp(`PORT must be a whole number from 0 to 65535, not ${JSON.stringify(text)}.`);
  }
  return port;
}

function explainListenError(error: unknown, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const another = 'Choose another one: PORT=3001 npm start';
  if (code === 'EADDRINUSE') return `Port ${port} is already in use. ${another}`;
  if (code === 'EACCES') return `Port ${port} may not be opened by this user. ${another}`;
  return `The demo could not start: ${message}`;
}

function giveUp(reason: string): never {
  console.error(reason);
  process.exit(1);
}

await main();
