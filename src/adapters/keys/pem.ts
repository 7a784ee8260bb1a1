import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair as generate,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type Secret, secret } from '../../domain/shared/secret.js';
import { NO_KEY } from './advice.js';

const SMALLEST_MODULUS_BITS = 2048;
const DAMAGED = 'holds a damaged or incomplete key';
const DAMAGED_CERTIFICATE = 'holds a damaged or incomplete certificate';
const NO_CERTIFICATE = 'holds no certificate';
const PUBLIC_KEY = 'holds a public key';

/** A usable private key, or the reason why the text is not one. */
export type PemReading =
  | {
      readonly kind: 'key';
      /** PKCS#8 PEM of an RSA key of at least 2,048 bits, whatever format the text had. */
      readonly pem: Secret;
      /** SHA-256 of the public half (SPKI, DER) in base64url: different for each key, and reveals neither half. */
      readonly fingerprint: string;
    }
  | Refused;

interface Refused {
  readonly kind: 'refused';
  /** The fault, as the rest of a sentence that begins with "it". */
  readonly fault: string;
  /** The code of the crypto library, for the server's log; empty if the library was not used. */
  readonly code: string;
}

/** Parses an RSA private key from text in all the forms that environment variables and secret stores produce. */
export function readPem(text: string): PemReading {
  const pem = unwrap(text);
  if (pem === '') return refused('is empty');
  if (isPlaceholder(pem)) return refused('holds a placeholder');

  const block = /-----BEGIN ((?:[A-Z0-9]+ )?PRIVATE KEY)-----([\s\S]*?)-----END \1-----/.exec(pem);
  if (block !== null) return readBlock(block[1] ?? '', (block[2] ?? '').trim());
  if (pem.includes('PRIVATE KEY')) return refused(DAMAGED);
  if (pem.includes('BEGIN CERTIFICATE')) return refused('holds a certificate');
  if (pem.includes('PUBLIC KEY') || pem.startsWith('ssh-')) return refused(PUBLIC_KEY);

  const bytes = decodeBase64(pem);
  if (bytes === undefined) return refused(NO_KEY);
  const decoded = bytes.toString('utf8');
  return decoded.includes('-----BEGIN ') ? readPem(decoded) : readDer(bytes);
}

function unwrap(text: string): string {
  // `trim` also removes a byte order mark.
  const trimmed = text.trim();
  const unquoted = /^(["'])([\s\S]*)\1$/.exec(trimmed)?.[2] ?? trimmed;
  return withLineEnds(unquoted).trim();
}

function withLineEnds(text: string): string {
  // Several backslashes: a value may be escaped twice, once for JSON and once for the shell.
  return text.replace(/(?<!\\)\\+r/g, '').replace(/(?<!\\)\\+n/g, '\n');
}

function isPlaceholder(text: string): boolean {
  return /^(?:<[^<>]*>|\$\{[^{}]*\}|\{\{[^{}]*\}\}|\.{3,}|…)$/.test(text);
}

function readBlock(label: string, body: string): PemReading {
  if (label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type:\s*4,\s*ENCRYPTED/m.test(body))
    return refused('holds an encrypted key');
  if (label === 'OPENSSH PRIVATE KEY') return refused('holds a key in OpenSSH form');
  if (label === 'EC PRIVATE KEY') return refused('holds an EC key');
  if (label === 'DSA PRIVATE KEY') return refused('holds a key that is not RSA');
  if (isPlaceholder(body)) return refused('holds a placeholder');
  const der = decodeBase64(body);
  return der === undefined ? refused(DAMAGED) : readDer(der);
}

function decodeBase64(text: string): Buffer | undefined {
  const compact = text.replace(/\s+/g, '');
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(compact) ? Buffer.from(compact, 'base64') : undefined;
}

function readDer(der: Buffer): PemReading {
  let code = '';
  // The label is not trusted: people often rename one to the other by hand.
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    try {
      return readKey(createPrivateKey({ key: der, format: 'der', type }));
    } catch (error) {
      code ||= codeOf(error);
      if (codeOf(error) === 'ERR_MISSING_PASSPHRASE') return refused('holds an encrypted key', code);
    }
  }
  if (succeeds(() => new X509Certificate(der))) return refused('holds a certificate', code);
  if (succeeds(() => createPublicKey({ key: der, format: 'der', type: 'spki' }))) return refused(PUBLIC_KEY, code);
  return refused(DAMAGED, code);
}

function readKey(key: KeyObject): PemReading {
  if (key.asymmetricKeyType === 'ec') return refused('holds an EC key');
  if (key.asymmetricKeyType === 'rsa-pss') return refused('holds an RSA-PSS key');
  if (key.asymmetricKeyType !== 'rsa') return refused('holds a key that is not RSA');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < SMALLEST_MODULUS_BITS)
    return refused('holds a key of fewer than 2,048 bits');

  const publicKey = createPublicKey(key);
  // A key with a wrong digit still parses; only a signature reveals it.
  const probe = Buffer.from('agent-bff');
  if (!succeeds(() => verify('sha256', probe, publicKey, sign('sha256', probe, key)))) return refused(DAMAGED);

  return {
    kind: 'key',
    pem: secret(key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    fingerprint: createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64url'),
  };
}

function refused(fault: string, code = ''): Refused {
  return { kind: 'refused', fault, code };
}

function succeeds(attempt: () => unknown): boolean {
  try {
    return attempt() !== false;
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? 'UNKNOWN');
}

/** The certificates of a file in their order, or the reason why there are none. */
export type CertificateList =
  { readonly kind: 'certificates'; readonly certificates: readonly [X509Certificate, ...X509Certificate[]] } | Refused;

const CERTIFICATE = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----([\s\S]*?)-----END \1-----/g;

/** Parses the certificates in a file: PEM, alone or among others, or DER. */
export function readCertificates(file: Buffer): CertificateList {
  const text = withLineEnds(file.toString('latin1'));
  if (text.trim() === '') return refused('is empty');
  if (!text.includes('-----BEGIN ')) return parseCertificates([file], NO_CERTIFICATE);

  const blocks = [...text.matchAll(CERTIFICATE)].map(([, , body = '']) => Buffer.from(body, 'base64'));
  if (blocks.length > 0) return parseCertificates(blocks, DAMAGED_CERTIFICATE);
  if (text.includes('CERTIFICATE REQUEST')) return refused('holds a certificate request');
  if (text.includes('CERTIFICATE')) return refused(DAMAGED_CERTIFICATE);
  if (text.includes('PRIVATE KEY')) return refused('holds a private key');
  return refused(text.includes('PUBLIC KEY') ? PUBLIC_KEY : NO_CERTIFICATE);
}

function parseCertificates(encoded: readonly Buffer[], fault: string): CertificateList {
  try {
    const [first, ...others] = encoded.map((der) => new X509Certificate(der));
    return first === undefined ? refused(fault) : { kind: 'certificates', certificates: [first, ...others] };
  } catch {
    return refused(fault);
  }
}

/** A new key of a service account: one half for the server, one to register with the platform. */
export interface GeneratedKeyPair {
  /** PKCS#8 PEM. */
  readonly privateKeyPem: Secret;
  /** SPKI PEM. */
  readonly publicKeyPem: string;
}

/** Generates an RSA key pair of 2,048 bits. */
export async function generateKeyPair(): Promise<GeneratedKeyPair> {
  const { privateKey, publicKey } = await promisify(generate)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKeyPem: secret(privateKey), publicKeyPem: publicKey };
}
