import { Console } from 'node:console';
import process from 'node:process';

/** What a log of faults is made of. */
export interface FaultLogSettings {
  /** Milliseconds since any moment; never runs backwards. */
  readonly now: () => number;
  /** Takes one line, without its end. */
  readonly write: (line: string) => void;
}

const PAUSE_MS = 60_000;
const MAX_FAULTS = 100;

interface Reported {
  readonly at: number;
  /** How often it came again since then. */
  again: number;
}

/**
 * Writes one line for each distinct fault, and for none more than one a minute (decision 87).
 * Without timers: how often a fault came again is said with its next line.
 */
export class FaultLog {
  readonly #settings: FaultLogSettings;
  /** Longest ago first. */
  readonly #reported = new Map<string, Reported>();

  constructor(settings: FaultLogSettings) {
    this.#settings = settings;
  }

  /** `key`: what makes faults distinct, free of anything a visitor chooses. `text` is asked only when a line is due. */
  tell(key: string, text: (times: string) => string): void {
    const now = this.#settings.now();
    const last = this.#reported.get(key);
    if (last !== undefined && now - last.at < PAUSE_MS) {
      last.again += 1;
      return;
    }
    if (last === undefined && !this.#hasRoom(now)) return;
    this.#reported.delete(key);
    this.#reported.set(key, { at: now, again: 0 });
    const times = last === undefined || last.again === 0 ? '' : timesIn(last.again + 1, now - last.at);
    this.#settings.write(`agent-bff: ${text(times)}`);
  }

  /** Whether one more can be kept: all that are there were told within the minute, or one of them is forgotten. */
  #hasRoom(now: number): boolean {
    if (this.#reported.size < MAX_FAULTS) return true;
    for (const [key, { at }] of this.#reported) {
      return now - at >= PAUSE_MS && this.#reported.delete(key);
    }
    return true;
  }
}

function timesIn(times: number, ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return `${String(times)} times in the last ${minutes < 2 ? 'minute' : `${String(minutes)} minutes`}`;
}

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
