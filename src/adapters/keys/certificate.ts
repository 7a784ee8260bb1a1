import type { Secret } from '../../domain/shared/secret.js';

/**
 * What reading a certificate and its key gives: the matching pair, or the reason in words that name no value.
 *
 * @public
 */
export type CertificateReading =
  | {
      readonly kind: 'certificate';
      /** The certificate that belongs to the key, without its chain. */
      readonly certificatePem: string;
      /** PKCS#8 PEM of an RSA key of at least 2,048 bits. */
      readonly privateKeyPem: Secret;
      /** SHA-256 of the certificate: 64 lower-case hexadecimal digits, no colons. */
      readonly thumbprintSha256: string;
      /** Start of validity, in milliseconds since the epoch. */
      readonly notBefore: number;
      /** End of validity, in milliseconds since the epoch. */
      readonly notAfter: number;
    }
  | {
      readonly kind: 'unusable';
      /** `incomplete`: a path is missing; `refused`: what the paths name cannot be used. */
      readonly reason: 'incomplete' | 'refused';
      /** The configuration fields to check. */
      readonly fields: readonly ('certificatePath' | 'privateKeyPath')[];
      /** Public: what to do, naming fields and no value. */
      readonly advice: string;
      /** For the server's log only. */
      readonly detail: string;
    };

/**
 * Reads a certificate with its private key, and notices when either changes.
 * The dates are for the caller to check: a certificate out of its dates is read like any other.
 *
 * @public
 */
export interface CertificateSource {
  /** Reads again only when a file changed; cheap to call before each use. */
  read(): Promise<CertificateReading>;
}
