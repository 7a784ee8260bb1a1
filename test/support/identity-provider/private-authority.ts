import { generateKeyPairSync } from 'node:crypto';
import { issueCertificate } from './x509.js';

/** A private certificate authority, and a server certificate it signed for this machine. */
export interface PrivateAuthority {
  /** The authority's certificate in PEM form, for the `ca` option of a client. */
  readonly ca: string;
  readonly serverCertificate: string;
  readonly serverKey: string;
}

const DAY = 86_400_000;
let made: PrivateAuthority | undefined;

/** The authority of this process. It is created on first use, because a stored certificate would expire. */
export function privateAuthority(): PrivateAuthority {
  made ??= makeAuthority();
  return made;
}

function makeAuthority(): PrivateAuthority {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const validFrom = new Date(Date.now() - DAY);
  const validTo = new Date(Date.now() + 30 * DAY);
  const issuer = 'Test authority';
  const shared = { issuer, validFrom, validTo, signingKey: authority.privateKey };
  return {
    ca: issueCertificate({ ...shared, subject: issuer, publicKey: authority.publicKey, authority: true, hosts: [] }),
    serverCertificate: issueCertificate({
      ...shared,
      subject: 'localhost',
      publicKey: server.publicKey,
      authority: false,
      hosts: ['127.0.0.1', 'localhost'],
    }),
    serverKey: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
