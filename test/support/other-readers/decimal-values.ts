import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('python/values.py', import.meta.url));
const PYTHON = process.env['PYTHON3_PATH'] ?? '/usr/bin/python3';

/** True if this machine has Python. */
export const HAS_PYTHON: boolean = spawnSync(PYTHON, ['-c', 'import decimal']).status === 0;

/** A JSON text as it was sent, and as it arrived. */
export interface Pair {
  readonly sent: Buffer;
  readonly received: Buffer;
}

/** The indexes of pairs whose values differ for Python's `json` with `Decimal`. */
export function differing(pairs: readonly Pair[]): readonly number[] {
  const input = pairs
    .map(({ sent, received }, id) =>
      JSON.stringify({ id, sent: sent.toString('base64'), received: received.toString('base64') }),
    )
    .join('\n');
  const { status, stdout, stderr } = spawnSync(PYTHON, [PROGRAM], { input, maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`python ended with ${String(status)}: ${stderr.toString()}`);
  const verdicts = stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly id: number; readonly equal: boolean });
  if (verdicts.length !== pairs.length) throw new Error('python did not judge every pair');
  return verdicts.filter(({ equal }) => !equal).map(({ id }) => id);
}
