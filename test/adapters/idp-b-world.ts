import { afterAll } from 'vitest';
import { IdpBProvider, type IdpBOptions } from '../../src/adapters/idp-b/idp-b.js';
import { CertificateFile } from '../../src/adapters/keys/certificate.js';
import { systemClock } from '../../src/adapters/system/system-clock.js';
import { secret } from '../../src/domain/shared/secret.js';
import {
  makeClientCertificate,
  removeClientCertificates,
  runIdpB,
  type ClientCertificate,
  type IdpBOptions as IdpBDoubleOptions,
} from '../support/identity-provider/index.js';

/** A running double that knows a certificate, and adapters that get tokens there unless a test changes their settings. */
export async function startIdpBWorld({ certificates = [], ...options }: IdpBDoubleOptions = {}) {
  const registered = makeClientCertificate();
  afterAll(removeClientCertificates);
  const { idp, trusting } = await runIdpB({ ...options, certificates: [registered.certificatePem, ...certificates] });
  /** What all adapters of idp_b are told. */
  const settings = {
    tenantId: idp.tenantId,
    clientId: idp.client.id,
    scope: idp.scope,
    clientSecret: secret(idp.client.secret),
    certificate: undefined,
    authority: `https://${idp.host}`,
    timeoutMs: 5000,
    fetch: trusting.fetch,
  };
  const provider = (change: Partial<IdpBOptions> = {}): IdpBProvider => new IdpBProvider({ ...settings, ...change });
  return { idp, trusting, registered, settings, provider };
}

/** Where an adapter finds a certificate and its key. */
export function certificateIn({ certificatePath, privateKeyPath }: ClientCertificate): CertificateFile {
  return new CertificateFile({ certificatePath, privateKeyPath, block: 'idpBService', clock: systemClock });
}
