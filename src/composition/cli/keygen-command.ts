import { parseArgs } from 'node:util';
import type { Terminal } from './terminal.js';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeyPair } from '../../adapters/keys/generate-key-pair.js';

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

/** Where a new key pair went. */
export interface GeneratedKeyFiles {
  readonly privateKeyPath: string;
  readonly publicKeyPath: string;
}

/**
 * Writes a new service-account key pair: the private half readable by its owner alone, the public half ready to register.
 * Never replaces a file, since an older key may still be registered, and never leaves half a pair beside an older half.
 */
async function keygen(directory: string, name: string): Promise<GeneratedKeyFiles> {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair();
  const privateKeyPath = join(directory, `${name}.pem`);
  const publicKeyPath = join(directory, `${name}.pub.pem`);
  await writeFile(privateKeyPath, privateKeyPem.reveal(), { flag: 'wx', mode: 0o600 });
  try {
    await chmod(privateKeyPath, 0o600); // Whatever the umask of the caller.
    await writeFile(publicKeyPath, publicKeyPem, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    await rm(privateKeyPath, { force: true });
    throw error;
  }
  return { privateKeyPath, publicKeyPath };
}
