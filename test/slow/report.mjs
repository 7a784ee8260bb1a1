const MIB = 1_048_576;

export const mib = (bytes) => `${(bytes / MIB).toFixed(1)} MiB`;

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

  finish() {
    if (this.#missed > 0) process.exitCode = 1;
  }

  #print(line) {
    process.stdout.write(`${line}\n`);
  }
}
