import { X509Certificate } from 'node:crypto';
import type { JWK } from 'jose';
import { errors } from 'oidc-provider';
import { thumbprintOf } from './client-certificate.js';

/** The certificates that an application may sign its assertions with. */
export interface RegisteredCertificates {
  readonly jwks: { readonly keys: readonly JWK[] };
  /** Throws unless the assertion's header names a registered certificate that is within its dates. */
  assertHeader(header: object): void;
}

/** Registers certificates given in PEM form. */
export function registeredCertificates(pems: readonly string[]): RegisteredCertificates {
  const known = new Map(pems.map((pem) => [thumbprintOf(pem), new X509Certificate(pem)]));
  return {
    jwks: { keys: [...known.values()].map(({ publicKey }) => publicKey.export({ format: 'jwk' }) as JWK) },
    assertHeader(header) {
      const certificate = known.get(String((header as Record<string, unknown>)['x5t#S256']));
      if (certificate === undefined) throw new errors.InvalidClientAuth('the certificate is not registered');
      const now = Date.now();
      if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) {
        throw new errors.InvalidClientAuth('the certificate is outside its dates');
      }
    },
  };
}
