import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { CrossedMessage, Reading } from './reading.js';

/** Sends a program one message per line and receives one reading per line. */
export async function readByProgram(
  command: string,
  parameters: readonly string[],
  messages: readonly CrossedMessage[],
): Promise<readonly Reading[]> {
  const program = spawn(command, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(program, 'close');
  const output = text(program.stdout);
  program.stdin.on('error', () => undefined); // the exit code is reported instead
  program.stdin.end(messages.map(line).join(''));
  const [code] = (await closed) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}`);
  return (await output)
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => JSON.parse(one) as Reading);
}

function line({ contentType, body }: CrossedMessage, id: number): string {
  return `${JSON.stringify({ id, contentType, body: Buffer.from(body).toString('base64') })}\n`;
}
