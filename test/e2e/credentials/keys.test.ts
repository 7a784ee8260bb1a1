import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSPKI, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { newServiceAccountKey } from '../../support/service-account.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { startSite } from './credential-site.js';

it('a service account with both a key text and a key file signs with the text and warns once that the file is not read', async () => {
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
