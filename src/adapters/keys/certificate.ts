import { createPrivateKey } from 'node:crypto';
import type { Secret } from '../../domain/shared/secret.js';
import { quoted } from '../../domain/shared/setting.js';
import type { Clock } from '../../ports/clock.js';
import type { Telemetry } from '../../ports/telemetry.js';
import { certificateAdvice, fileAdvice, type PathField, type Unusable, unusable } from './advice.js';
import { type CertificateList, readCertificates } from './pem.js';
import { keyFileReader, type PrivateKeyReading } from './private-key.js';
import { ParsedFile, locationOf, WatchedReading } from './watched-file.js';

/**
 * The result of reading a certificate: the matching pair, or the reason, without values.
 *
 * @public
 */
export type CertificateReading =
  | {
      readonly kind: 'certificate';
      /** PKCS#8 PEM of an RSA key of at least 2,048 bits. */
      readonly privateKeyPem: Secret;
      /** SHA-256 of the certificate: 64 lower-case hexadecimal digits, no colons. */
      readonly thumbprintSha256: string;
      /** Start of validity, in milliseconds since the epoch. */
      readonly notBefore: number;
      /** End of validity, in milliseconds since the epoch. */
      readonly notAfter: number;
    }
  | Unusable;

const DAY_MS = 86_400_000;
const EXPIRES_SOON_MS = 30 * DAY_MS;

/** The files of a certificate and its key; an empty string is an unset path. */
export interface CertificateFileOptions {
  /** The value of `certificatePath`. */
  readonly certificatePath: string;
  /** The value of `privateKeyPath`. */
  readonly privateKeyPath: string;
  /** The configuration block to name in advice, such as `idpBService`. */
  readonly block: string;
  readonly clock: Clock;
  /** Gets a warning, at most once a day, while a certificate in use has less than 30 days left. Default: none. */
  readonly telemetry?: Telemetry | undefined;
}

type Pair = Extract<CertificateReading, { kind: 'certificate' }>;
type Certificates = Extract<CertificateList, { kind: 'certificates' }>;
type Key = Extract<PrivateKeyReading, { kind: 'key' }>;

/**
 * A certificate and its private key in two files, or in one file set for both. The files are checked at most every 30
 * seconds, and read again if they changed. If a working pair becomes unusable, the last good one stays in use for five
 * minutes. The caller checks the dates: an expired certificate is read like any other.
 */
export class CertificateFile {
  readonly #options: CertificateFileOptions;
  readonly #certificates: ParsedFile<CertificateList>;
  readonly #readKey: () => PrivateKeyReading;
  readonly #pair: WatchedReading<CertificateReading>;
  #warned: { readonly thumbprint: string; readonly at: number } | undefined;

  constructor(options: CertificateFileOptions) {
    this.#options = options;
    this.#certificates = new ParsedFile(options.certificatePath, readCertificates);
    // One PEM file may hold both.
    this.#readKey = keyFileReader(options.privateKeyPath.trim() || options.certificatePath, options.block);
    this.#pair = new WatchedReading(options.clock, () => this.#load());
  }

  /** Reads again only if a file changed; cheap to call before each use. */
  read(): CertificateReading {
    const reading = this.#pair.read();
    if (reading.kind === 'certificate') this.#warn(reading);
    return reading;
  }

  #load(): CertificateReading {
    const { certificatePath, privateKeyPath, block } = this.#options;
    const paths = { certificatePath, privateKeyPath };
    const fields = Object.keys(paths) as PathField[];
    const missing = fields.filter((field) => paths[field].trim() === '');
    const [blank] = missing;
    const list = blank === 'certificatePath' ? undefined : this.#certificates.read();
    const isWithoutKey = blank === 'privateKeyPath' && list?.kind === 'certificates';
    if (list === undefined || (isWithoutKey && this.#readKey().kind !== 'key')) {
      const advice = `Fill in the "${block}" configuration block: ${quoted(missing)}.`;
      return { ...unusable(missing, advice, 'empty'), reason: 'incomplete' };
    }
    const misplaced = fields.find((field) => paths[field].includes('-----BEGIN'));
    if (misplaced !== undefined) {
      const advice = `Put the path of a file into "${misplaced}" in the "${block}" configuration block, not its text.`;
      return unusable([misplaced], advice, 'the value is a PEM text');
    }
    if (list.kind !== 'certificates') {
      const [advice, reason] =
        list.kind === 'unreadable'
          ? [fileAdvice('certificatePath', block, list.code), list.code]
          : [certificateAdvice(block, list.fault), list.fault];
      return unusable(['certificatePath'], advice, `${reason}: ${locationOf(certificatePath)}`);
    }
    const key = this.#readKey();
    return key.kind === 'key' ? this.#compare(list, key) : key;
  }

  #compare({ certificates }: Certificates, { pem: privateKeyPem }: Key): CertificateReading {
    const privateKey = createPrivateKey(privateKeyPem.reveal());
    // A chain may be in any order; the certificate that matches the key is used.
    const certificate = certificates.find((one) => one.checkPrivateKey(privateKey));
    if (certificate === undefined) {
      const { certificatePath, privateKeyPath, block } = this.#options;
      const advice = `Point "certificatePath" and "privateKeyPath" in the "${block}" configuration block at one pair: the key does not belong to the certificate.`;
      const detail = `the key does not belong to the certificate: ${privateKeyPath}, ${certificatePath}`;
      return unusable(['certificatePath', 'privateKeyPath'], advice, detail);
    }
    return {
      kind: 'certificate',
      privateKeyPem,
      thumbprintSha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
    };
  }

  #warn({ thumbprintSha256: thumbprint, notAfter }: Pair): void {
    const { telemetry, block, clock } = this.#options;
    const now = clock.now();
    const left = notAfter - now;
    if (telemetry === undefined || left > EXPIRES_SOON_MS || left <= 0) return;
    if (this.#warned?.thumbprint === thumbprint && Math.abs(now - this.#warned.at) < DAY_MS) return;
    this.#warned = { thumbprint, at: now };
    const detail = `the certificate of ${block}.certificatePath expires on ${new Date(notAfter).toISOString()}, in ${Math.floor(left / DAY_MS)} days`;
    telemetry.emit({ type: 'warning', code: 'certificate_expires_soon', detail });
  }
}
