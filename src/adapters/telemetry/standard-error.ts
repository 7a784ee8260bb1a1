import { Console } from 'node:console';
import process from 'node:process';

let terminal: Console | undefined;

/**
 * Writes one line to standard error. By a console of our own: it survives a closed pipe, where `process.stderr` alone would end the process,
 * and no bundler takes its calls out of a production build.
 */
export function writeToStandardError(line: string): void {
  try {
    terminal ??= new Console(process.stderr);
    terminal.error(line);
  } catch {
    // Where nobody can be told, the site goes on.
  }
}
