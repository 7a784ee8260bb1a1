import type { PemFault } from './pem.js';

const PEM_FAULTS: Readonly<Record<PemFault, string>> = {
  empty: 'it is empty',
  placeholder: 'it holds a placeholder',
  encrypted: 'it holds an encrypted key',
  ec: 'it holds an EC key',
  'rsa-pss': 'it holds an RSA-PSS key',
  'not-rsa': 'it holds a key that is not RSA',
  'too-short': 'it holds a key of fewer than 2,048 bits',
  certificate: 'it holds a certificate',
  'public-key': 'it holds a public key',
  openssh: 'it holds a key in OpenSSH form',
  damaged: 'it holds a damaged or incomplete key',
  'no-key': 'it holds no key',
};

/** Names what to put in place of a text that is no usable key. */
export function pemAdvice(field: 'privateKeyPem' | 'privateKeyPath', block: string, fault: PemFault): string {
  const place = field === 'privateKeyPem' ? '"privateKeyPem"' : 'the file of "privateKeyPath"';
  return `Put an unencrypted RSA private key of at least 2,048 bits in PEM form into ${place} in the "${block}" configuration block: ${PEM_FAULTS[fault]}.`;
}

/** Names what to do about a key file that cannot be read, by the code of the file system. */
export function fileAdvice(block: string, code: string): string {
  const field = `"privateKeyPath" in the "${block}" configuration block`;
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
      return `Point ${field} at a key file: it names a file that is too large for a key.`;
    default:
      return `Check the file of ${field}: it cannot be read.`;
  }
}

/** Names the field a key belongs in when it was given as a path. */
export function misplacedKeyAdvice(block: string): string {
  return `Move the key to "privateKeyPem" in the "${block}" configuration block: "privateKeyPath" takes the path of a file.`;
}
