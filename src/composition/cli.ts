#!/usr/bin/env node
import * as util from 'node:util';

// The rest is imported after this: an older Node fails on names that it does not have.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`agent-bff: Node ${process.versions.node} is too old. Install Node 20.19 or newer.\n`);
  process.exit(1);
}
const { runCommand } = await import('./cli/run-command.js');

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const stopped = new Promise<void>((resolve) => {
  const stop = (): void => {
    // A second signal ends the process immediately, whatever is still open.
    for (const signal of SIGNALS) process.off(signal, stop);
    resolve();
  };
  for (const signal of SIGNALS) process.once(signal, stop);
});

// A reader that leaves, such as `head`, ends the output only: `serve` continues without its log.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
  stopped,
  // Returns text unchanged unless standard output is a terminal with colours and NO_COLOR is not set.
  style: (style, text) => util.styleText(style, text, { stream: process.stdout }),
  ...(process.stderr.isTTY && process.env['TERM'] !== 'dumb' && { progress }),
});

/** Shows one line on the terminal, replacing the previous one. */
function progress(line: string): void {
  process.stderr.write(`\r\u001B[2K${line}`);
}
