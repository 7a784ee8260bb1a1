import type { CertificateSource } from '../keys/certificate.js';
import type { IssueFailure } from '../../ports/identity-provider.js';
import type { Secret } from '../../domain/shared/secret.js';
import { BLOCK } from './block.js';

/** What the application can prove itself with; a certificate is used before a secret. */
export interface ClientCredentialOptions {
  /** Empty when not supplied. */
  readonly clientSecret: Secret;
  /** Where the certificate comes from; `undefined` when neither of its paths is given. */
  readonly certificate: CertificateSource | undefined;
}

/** What the application proves itself with. */
export type ClientCredential =
  | { readonly kind: 'secret'; readonly value: Secret }
  | { readonly kind: 'certificate'; readonly thumbprintSha256: string; readonly privateKeyPem: Secret };

/** Chooses the credential, and finds a certificate that cannot work before anybody is asked; `now` is milliseconds since the epoch. */
export async function clientCredential(
  { clientSecret, certificate }: ClientCredentialOptions,
  now: number,
): Promise<ClientCredential | IssueFailure> {
  if (certificate === undefined) return { kind: 'secret', value: clientSecret };
  const reading = await certificate.read();
  if (reading.kind === 'unusable') {
    const { reason, fields, advice, detail } = reading;
    return { kind: 'failure', reason, block: BLOCK, fields, advice, detail };
  }
  const { thumbprintSha256, privateKeyPem, notBefore, notAfter } = reading;
  if (now > notAfter) return outOfDates('has expired', 'ended', notAfter);
  if (now < notBefore) return outOfDates('is not valid yet', 'starts', notBefore);
  return { kind: 'certificate', thumbprintSha256, privateKeyPem };
}

function outOfDates(state: string, verb: string, at: number): IssueFailure {
  return {
    kind: 'failure',
    reason: 'refused',
    block: BLOCK,
    fields: ['certificatePath', 'privateKeyPath'],
    advice: `Replace the certificate of "certificatePath" and "privateKeyPath" in the "${BLOCK}" configuration block: it ${state}.`,
    detail: `the certificate ${state}: its validity ${verb} on ${new Date(at).toISOString()}, by the clock of this server`,
  };
}
