import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateKeyPair } from '../../adapters/keys/pem.js';
import { type Command, failure, STATUS, type Terminal } from './command-line.js';

/** The command `keygen`. */
export const KEYGEN: Command = {
  summary: 'creates a key pair for a service account',
  help: `agent-bff keygen [--out DIR] [--name N]

Creates a key pair for a service account, and never replaces one.

  --out DIR   default: the current folder; created if there is none
  --name N    default service-account, which makes service-account.pem and service-account.pub.pem

${STATUS}`,
  run: keygen,
};

async function keygen(args: string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, name: { type: 'string' } } });
  const { out = '.', name = 'service-account' } = values;
  try {
    const { privateKeyPath, publicKeyPath } = await writeKeyPair(out, name);
    terminal.print(
      `private key  ${privateKeyPath}  (keep it out of version control; set SERVICE_ACCOUNT_PRIVATE_KEY_PATH to it)`,
    );
    terminal.print(`public key   ${publicKeyPath}  (register it on the service account)`);
    return 0;
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw failure(
      code === 'EEXIST' && syscall === 'open'
        ? `${out} already holds a key named "${name}"; choose another --name, or move the files away.`
        : `the key files cannot be written to ${out} (${code}); choose another --out.`,
    );
  }
}

/**
 * Writes a new service-account key pair: the private half readable by its owner only, the public half ready to
 * register. Never replaces a file, since an older key may still be registered, and never leaves half a pair beside an
 * older half.
 */
async function writeKeyPair(directory: string, name: string) {
  const { privateKeyPem, publicKeyPem } = await generateKeyPair();
  const privateKeyPath = join(directory, `${name}.pem`);
  const publicKeyPath = join(directory, `${name}.pub.pem`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(privateKeyPath, privateKeyPem.reveal(), { flag: 'wx', mode: 0o600 });
  try {
    await chmod(privateKeyPath, 0o600); // Independent of the caller's umask.
    await writeFile(publicKeyPath, publicKeyPem, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    await rm(privateKeyPath, { force: true });
    throw error;
  }
  return { privateKeyPath, publicKeyPath };
}
