/** A field of the configuration that holds a path. */
export type PathField = 'certificatePath' | 'privateKeyPath';
/** A configuration field that holds a key or the path of a file. */
export type KeyField = PathField | 'privateKeyPem';

/** The reason why a key or a certificate cannot be used, without values. */
export interface Unusable {
  readonly kind: 'unusable';
  /** `incomplete`: a path is missing; `refused`: the text or the file cannot be used. */
  readonly reason: 'incomplete' | 'refused';
  /** The configuration fields to check. */
  readonly fields: readonly KeyField[];
  /** Public advice that names fields, not values. */
  readonly advice: string;
  /** For the server's log only. */
  readonly log: string;
}

/** The result of reading what cannot be used because of these fields. */
export function unusable(fields: readonly KeyField[], advice: string, reason: string): Unusable {
  return { kind: 'unusable', reason: 'refused', fields, advice, log: `${fields.join(', ')}: ${reason}` };
}

/** The fault of a text that may be a path. */
export const NO_KEY = 'holds no key';

/** The advice for a text that is not a usable key. */
export function pemAdvice(field: KeyField, block: string, fault: string): string {
  const path = field === 'privateKeyPem' && fault === NO_KEY ? ' A path goes into "privateKeyPath".' : '';
  const place = field === 'privateKeyPem' ? '"privateKeyPem"' : 'the file of "privateKeyPath"';
  return `Put an unencrypted RSA private key of at least 2,048 bits in PEM form into ${place} in the "${block}" configuration block: it ${fault}.${path}`;
}

/** The advice for a file without a usable certificate. */
export function certificateAdvice(block: string, fault: string): string {
  return `Put an X.509 certificate in PEM form into the file of "certificatePath" in the "${block}" configuration block: it ${fault}.`;
}

/** The advice for an unreadable file, by the code of the file system. */
export function fileAdvice(field: PathField, block: string, code: string): string {
  const named = `"${field}" in the "${block}" configuration block`;
  const thing = field === 'certificatePath' ? 'certificate' : 'key';
  if (code === 'ENOENT' || code === 'ENOTDIR') return `Point ${named} at a file that exists.`;
  if (code === 'EACCES' || code === 'EPERM') return `Make the file of ${named} readable for the server.`;
  if (code === 'EISDIR') return `Point ${named} at a regular file: it names a directory or a device.`;
  if (code === 'EFBIG') return `Point ${named} at a ${thing} file: it names a file that is too large for a ${thing}.`;
  return `Check the file of ${named}: it cannot be read.`;
}
