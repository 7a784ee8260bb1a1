import { generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueCertificate } from './x509.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Options of a client certificate. */
export interface ClientCertificateOptions {
  /** Days from now until it becomes valid. Default -1. */
  readonly validFromDays?: number;
  /** Days from now until it expires; negative for an expired one. Default 365. */
  readonly validToDays?: number;
  /** Form of the private key. Default `pkcs8`. */
  readonly keyFormat?: 'pkcs8' | 'pkcs1';
  /** Uses the private key of another certificate, as if two files were mixed up. Default false. */
  readonly mismatched?: boolean;
}

/** A self-signed RSA certificate with its key, in memory and in files. */
export interface ClientCertificate {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  readonly certificatePath: string;
  readonly privateKeyPath: string;
  /** SHA-256 of the certificate in base64url, as in `x5t#S256`. */
  readonly thumbprint: string;
}

const DAY = 86_400_000;
const keys: { publicKey: KeyObject; privateKey: KeyObject }[] = [];
let folder: string | undefined;
let count = 0;

/** Creates a client certificate and its files. `removeClientCertificates` removes the files. */
export function makeClientCertificate(options: ClientCertificateOptions = {}): ClientCertificate {
  const { validFromDays = -1, validToDays = 365, keyFormat = 'pkcs8', mismatched = false } = options;
  const pair = rsaPair(0);
  const validTo = Date.now() + validToDays * DAY;
  const certificatePem = issueCertificate({
    subject: 'client',
    issuer: 'client',
    publicKey: pair.publicKey,
    signingKey: pair.privateKey,
    validFrom: new Date(Math.min(Date.now() + validFromDays * DAY, validTo - DAY)),
    validTo: new Date(validTo),
    authority: false,
    hosts: [],
  });
  const { privateKey } = mismatched ? rsaPair(1) : pair;
  const privateKeyPem = privateKey.export({ type: keyFormat, format: 'pem' }) as string;
  count += 1;
  return {
    certificatePem,
    privateKeyPem,
    certificatePath: write(`client-${count}.crt`, certificatePem),
    privateKeyPath: write(`client-${count}.key`, privateKeyPem),
    thumbprint: thumbprintOf(certificatePem),
  };
}

/** Removes the files of all certificates created in this process. Call it at the end of a test file. */
export function removeClientCertificates(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
}

/** SHA-256 of a certificate in base64url. */
export function thumbprintOf(certificatePem: string): string {
  return Buffer.from(new X509Certificate(certificatePem).fingerprint256.replaceAll(':', ''), 'hex').toString(
    'base64url',
  );
}

// Creating an RSA key takes a tenth of a second, so all certificates of a process share two.
function rsaPair(index: number): { publicKey: KeyObject; privateKey: KeyObject } {
  return (keys[index] ??= generateKeyPairSync('rsa', { modulusLength: 2048 }));
}

function write(file: string, text: string): string {
  folder ??= temporaryFolder('certificates');
  const path = join(folder, file);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
