import { loadavg } from 'node:os';

const MIB = 1_048_576;

export const mib = (bytes) => `${(bytes / MIB).toFixed(1)} MiB`;

/** The load of this machine in the last 1, 5 and 15 minutes. */
export const load = () =>
  `load ${loadavg()
    .map((average) => average.toFixed(1))
    .join(' ')}`;

/** Prints measured numbers beside their limits, and fails the process when a limit is broken. */
export class Report {
  #missed = 0;

  constructor(title) {
    this.#print(`${title} (Node ${process.version})`);
  }

  note(text) {
    this.#print(`       ${text}`);
  }

  check(what, kept, measured) {
    if (!kept) this.#missed += 1;
    this.#print(`${kept ? '  ok  ' : 'MISSED'} ${what}: ${measured}`);
  }

  /** Checks that the last of these figures has no more open descriptors than the first. */
  descriptors(what, figures, slack = 0) {
    const counts = figures.map(({ descriptors }) => descriptors);
    if (counts[0] === undefined) this.note('no /proc here: file descriptors were not counted');
    else this.check(what, counts.at(-1) <= counts[0] + slack, counts.join(' → '));
  }

  finish() {
    if (this.#missed > 0) process.exitCode = 1;
  }

  #print(line) {
    process.stdout.write(`${line}\n`);
  }
}
