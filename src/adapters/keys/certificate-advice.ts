import type { CertificateFault } from './certificate-pem.js';

type PathField = 'certificatePath' | 'privateKeyPath';

const FAULTS: Readonly<Record<CertificateFault, string>> = {
  empty: 'it is empty',
  'private-key': 'it holds a private key',
  'public-key': 'it holds a bare public key',
  request: 'it holds a certificate request',
  damaged: 'it holds a damaged or incomplete certificate',
  'no-certificate': 'it holds no certificate',
};

/** Names the paths that are missing. */
export function missingPathAdvice(block: string, fields: readonly PathField[]): string {
  return `Fill in the "${block}" configuration block: ${fields.map((field) => `"${field}"`).join(', ')}.`;
}

/** Names what to put in place of a file that holds no usable certificate. */
export function certificateAdvice(block: string, fault: CertificateFault): string {
  return `Put an X.509 certificate in PEM form into the file of "certificatePath" in the "${block}" configuration block: ${FAULTS[fault]}.`;
}

/** Names what to do about a certificate file that cannot be read, by the code of the file system. */
export function certificateFileAdvice(block: string, code: string): string {
  const field = `"certificatePath" in the "${block}" configuration block`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `Point ${field} at a file that exists.`;
    case 'EACCES':
    case 'EPERM':
      return `Let the server read the file of ${field}.`;
    case 'EISDIR':
      return `Point ${field} at a regular file: it names a directory or a device.`;
    case 'EFBIG':
      return `Point ${field} at a certificate file: it names a file that is too large for a certificate.`;
    default:
      return `Check the file of ${field}: it cannot be read.`;
  }
}

/** Says that a field holds a PEM text where it should hold a path. */
export function pathExpectedAdvice(block: string, field: PathField): string {
  return `Put the path of a file into "${field}" in the "${block}" configuration block, not its text.`;
}

/** Says that certificate and key belong to different pairs. */
export function mismatchAdvice(block: string): string {
  return `Point "certificatePath" and "privateKeyPath" in the "${block}" configuration block at one pair: the key does not belong to the certificate.`;
}
