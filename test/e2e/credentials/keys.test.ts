import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configureServer, getAuthHeaders } from 'agent-bff';
import { importSPKI, jwtVerify } from 'jose';
import { afterAll, expect, it } from 'vitest';
import { newServiceAccountKey } from '../../support/service-account.js';
import { makeClientCertificate, removeClientCertificates, runIdpB } from '../../support/identity-provider/index.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { applicationSecret, identityFetch, startSite } from './credential-site.js';

// What shapes keys come in is proved in test/adapters/pem.test.ts, what can be wrong with files beside it.
const { certificatePath, privateKeyPath, certificatePem } = makeClientCertificate();
const { idp, trusting } = await runIdpB({ certificates: [certificatePem] });
afterAll(removeClientCertificates);

it('a service account uses the key given as text, and warns once that the key file beside it is not read', async () => {
  const [asText, inFile] = [await newServiceAccountKey(), await newServiceAccountKey()];
  const path = join(temporaryFolder('keys'), 'other.pem');
  writeFileSync(path, inFile.privateKey);
  const site = await startSite({
    serviceAccount: { serviceAccountId: 'site-1', privateKeyPem: asText.privateKey, privateKeyPath: path },
  });
  for (let visit = 0; visit < 2; visit += 1) expect((await site.chat()).status).toBe(200);
  await jwtVerify(site.tokens()[0] ?? '', await importSPKI(asText.publicKey, 'RS256'), { issuer: 'site-1' });
  expect(site.telemetry.of('warning')).toMatchObject([{ code: 'second_key_unused' }]);
});

it('a key that is configured later replaces the one before, whichever form either has', async () => {
  const [first, rotated] = [await newServiceAccountKey(), await newServiceAccountKey()];
  const path = join(temporaryFolder('keys'), 'rotated.pem');
  writeFileSync(path, rotated.privateKey);
  const signedBy = async ({ publicKey }: { readonly publicKey: string }) => {
    const { Authorization: authorization = '', authorization: lower = authorization } = await getAuthHeaders();
    await jwtVerify(lower.slice('Bearer '.length), await importSPKI(publicKey, 'RS256'));
  };
  configureServer({
    serviceApiUrl: 'https://platform.example',
    serviceAuthStrategy: 'service_account',
    serviceAccount: { serviceAccountId: 'site-1', privateKeyPem: first.privateKey },
  });
  await signedBy(first);
  configureServer({ serviceAccount: { privateKeyPath: path } });
  await signedBy(rotated);
  configureServer({ serviceAccount: { privateKeyPem: first.privateKey } });
  await signedBy(first);
});

it('an application uses its secret when only the path of a key stands beside it, at the authority it names', async () => {
  const { idpBService, ...rest } = applicationSecret(idp);
  const site = await startSite(
    { ...rest, idpBService: { ...idpBService, authority: `https://${idp.host}`, privateKeyPath } },
    { ports: identityFetch(trusting) },
  );
  expect((await site.chat()).status).toBe(200);
  expect(idp.tokenRequests.last?.form).toHaveProperty('client_secret');
});

it('a broken certificate that replaces another broken one is refused for its own fault', async () => {
  const { idpBService, ...rest } = applicationSecret(idp);
  const mismatched = makeClientCertificate({ mismatched: true }).privateKeyPath;
  for (const [paths, fault] of [
    [{ certificatePath: '/nowhere/client.crt', privateKeyPath }, 'at a file that exists'],
    [{ certificatePath: privateKeyPath, privateKeyPath }, 'it holds a private key'],
    [{ certificatePath, privateKeyPath: mismatched }, 'one pair'],
  ] as const) {
    const config = { ...rest, serviceAccount: { serviceAccountId: '' }, idpBService: { ...idpBService, ...paths } };
    await expect(configureServer(config).authHeaders()).rejects.toThrow(fault);
  }
});
