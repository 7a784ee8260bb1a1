import type { Secret } from '../../domain/shared/secret.js';

/**
 * What reading a private key gives: the key, or the reason in words that name no value.
 *
 * @public
 */
export type PrivateKeyReading =
  | {
      readonly kind: 'key';
      /** PKCS#8 PEM of an RSA key of at least 2,048 bits. */
      readonly pem: Secret;
      /** SHA-256 of the public half, in base64url: tells two keys apart and reveals neither. */
      readonly fingerprint: string;
    }
  | {
      readonly kind: 'unusable';
      /** The configuration field that holds the key or its path. */
      readonly field: 'privateKeyPem' | 'privateKeyPath';
      /** Public: what to do, naming the field and no value. */
      readonly advice: string;
      /** For the server's log only. */
      readonly detail: string;
    };

/**
 * Reads a private key from configuration or from a file, and notices when the file changes.
 *
 * @public
 */
export interface PrivateKeySource {
  /** Makes the next `read` look at the file again, however short ago it was looked at. */
  recheck?(): void;
  /** Reads again only when the file changed; cheap to call before each signature. */
  read(): Promise<PrivateKeyReading>;
}
