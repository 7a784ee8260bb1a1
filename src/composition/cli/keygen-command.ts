import { parseArgs } from 'node:util';
import { keygen } from './keygen.js';
import type { Terminal } from './terminal.js';

/** Runs `keygen`. */
export async function keygenCommand(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, name: { type: 'string' } } });
  const { out = '.', name = 'service-account' } = values;
  try {
    const { privateKeyPath, publicKeyPath } = await keygen(out, name);
    terminal.print(`private key  ${privateKeyPath}  (keep it; set SERVICE_ACCOUNT_PRIVATE_KEY_PATH to it)`);
    terminal.print(`public key   ${publicKeyPath}  (register it on the service account)`);
    return 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    terminal.complain(
      code === 'EEXIST'
        ? `agent-bff: ${out} already holds a key named "${name}"; give another --name, or move it away.`
        : `agent-bff: the key files cannot be written to ${out} (${code}).`,
    );
    return 1;
  }
}
