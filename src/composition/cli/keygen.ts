import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeyPair } from '../../adapters/keys/generate-key-pair.js';

/** Where a new key pair went. */
export interface GeneratedKeyFiles {
  readonly privateKeyPath: string;
  readonly publicKeyPath: string;
}

/**
 * Writes a new service-account key pair: the private half readable by its owner alone, the public half ready to register.
 * Never replaces a file, since an older key may still be registered, and never leaves half a pair beside an older half.
 */
export async function keygen(directory: string, name: string): Promise<GeneratedKeyFiles> {
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
