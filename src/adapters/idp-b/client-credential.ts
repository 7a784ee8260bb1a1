import type { Secret } from '../../domain/shared/secret.js';
import type { IssueFailure } from '../../ports/identity-provider.js';
import type { CertificateSource } from '../keys/certificate.js';
import type { Places } from '../oauth/failure.js';

/** What the application can prove itself with; a certificate is used before a secret. */
export interface ClientCredentialOptions {
  /** Empty when not supplied. */
  readonly clientSecret: Secret;
  /** Where the certificate comes from; `undefined` when neither of its paths is given. */
  readonly certificate: CertificateSource | undefined;
}

/** What the application proves itself with. */
export interface ClientCredential {
  readonly kind: 'secret' | 'certificate';
  /** The client secret, or the private key of the certificate in PEM form. */
  readonly secret: Secret;
  /** Of the certificate; empty for a client secret. */
  readonly thumbprintSha256: string;
}

/** Chooses the credential, and finds a certificate that cannot work before anybody is asked; `now` is milliseconds since the epoch. */
export async function clientCredential(
  { clientSecret, certificate }: ClientCredentialOptions,
  { of }: Places,
  now: number,
): Promise<ClientCredential | IssueFailure> {
  if (certificate === undefined) return { kind: 'secret', secret: clientSecret, thumbprintSha256: '' };
  const reading = await certificate.read();
  const { block } = of('certificatePath');
  if (reading.kind === 'unusable') return { ...reading, kind: 'failure', block };
  const { thumbprintSha256, privateKeyPem: secret, notBefore, notAfter } = reading;
  if (now > notAfter) return outOfDates(block, 'has expired', 'ended', notAfter);
  if (now < notBefore) return outOfDates(block, 'is not valid yet', 'starts', notBefore);
  return { kind: 'certificate', secret, thumbprintSha256 };
}

function outOfDates(block: string, state: string, verb: string, at: number): IssueFailure {
  return {
    kind: 'failure',
    reason: 'refused',
    block,
    fields: ['certificatePath', 'privateKeyPath'],
    advice: `Replace the certificate of "certificatePath" and "privateKeyPath" in the "${block}" configuration block: it ${state}.`,
    detail: `the certificate ${state}: its validity ${verb} on ${new Date(at).toISOString()}, by the clock of this server`,
  };
}
