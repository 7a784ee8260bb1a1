import { X509Certificate } from 'node:crypto';

/** Why a file gives no certificate; each one has its own sentence for the reader. */
export type CertificateFault = 'empty' | 'private-key' | 'public-key' | 'request' | 'damaged' | 'no-certificate';

/** The certificates of a file in their order, or the reason why there are none. */
export type CertificateList =
  | { readonly kind: 'certificates'; readonly certificates: readonly [X509Certificate, ...X509Certificate[]] }
  | { readonly kind: 'refused'; readonly fault: CertificateFault };

const BLOCK = /-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----([\s\S]*?)-----END \1-----/g;

/** Reads the certificates of a file: PEM, alone or among others, or DER. */
export function readCertificates(file: Buffer): CertificateList {
  const text = file
    .toString('latin1')
    .replace(/(?<!\\)\\+r/g, '')
    .replace(/(?<!\\)\\+n/g, '\n');
  if (text.trim() === '') return refused('empty');
  if (!text.includes('-----BEGIN ')) return parse([file], 'no-certificate');

  const blocks = [...text.matchAll(BLOCK)].map(([, , body = '']) => Buffer.from(body, 'base64'));
  if (blocks.length > 0) return parse(blocks, 'damaged');
  if (text.includes('CERTIFICATE REQUEST')) return refused('request');
  if (text.includes('CERTIFICATE')) return refused('damaged');
  if (text.includes('PRIVATE KEY')) return refused('private-key');
  return refused(text.includes('PUBLIC KEY') ? 'public-key' : 'no-certificate');
}

function parse(encoded: readonly Buffer[], fault: CertificateFault): CertificateList {
  try {
    const [first, ...others] = encoded.map((der) => new X509Certificate(der));
    return first === undefined ? refused(fault) : { kind: 'certificates', certificates: [first, ...others] };
  } catch {
    return refused(fault);
  }
}

function refused(fault: CertificateFault): CertificateList {
  return { kind: 'refused', fault };
}
