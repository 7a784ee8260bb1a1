import { readdirSync, readFileSync } from 'node:fs';

/** One tick of the kernel's CPU times. */
const TICK_MS = 10;

/**
 * CPU time of the main threads of all processes below this one whose command line has a word; a browser runs scripts and
 * layout there.
 */
export function mainThreadMs(word: string): number {
  const parents = new Map<number, number>();
  const found: number[] = [];
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      parents.set(pid, Number(statOf(`/proc/${pid}/stat`)[1]));
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)) found.push(pid);
    } catch {
      // already gone
    }
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === process.pid || isBelow(parents.get(pid)));
  return found.filter(isBelow).reduce((sum, pid) => {
    const [user, system] = statOf(`/proc/${pid}/task/${pid}/stat`).slice(11);
    return sum + (Number(user) + Number(system)) * TICK_MS;
  }, 0);
}

/** The fields after the name of the program. */
function statOf(path: string): readonly string[] {
  const stat = readFileSync(path, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
