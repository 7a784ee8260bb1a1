import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configureServer } from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import { RecordingTelemetry } from 'agent-bff/testing';
import express from 'express';
import { decodeProtectedHeader, importSPKI, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Site } from '../../site/framework.js';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import {
  makeClientCertificate,
  publicCloudFetch,
  removeClientCertificates,
  startIdpB,
  type ClientCertificate,
  type IdpB,
  type TrustingFetch,
} from '../../support/identity-provider/index.js';
import { RecordingUpstream } from '../../support/recording-upstream.js';
import { newServiceAccountKey } from '../../support/service-account.js';
import { applicationSecret, bearerOf, chatAt, failureOf, identityFetch, startSite } from './credential-site.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const pkcs1 = pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const der = pkcs8.replace(/-----[^-]+-----|\n/g, '');
const { certificatePem } = makeClientCertificate();

const good: Readonly<Record<string, string>> = {
  'PKCS#8': pkcs8,
  'PKCS#8 with Windows line ends': pkcs8.replaceAll('\n', '\r\n'),
  'PKCS#1': pkcs1,
  'one line with \\n': pkcs8.replaceAll('\n', '\\n'),
  'one line with \\r\\n': pkcs8.replaceAll('\n', '\\r\\n'),
  'spaces in place of line ends': pkcs8.replaceAll('\n', ' '),
  'a byte order mark in front': `\uFEFF${pkcs8}`,
  'double quotes around it': `"${pkcs8}"`,
  'single quotes around it': `'${pkcs8.replaceAll('\n', '\\n')}'`,
  'indented lines': pkcs8.replaceAll(/^/gm, '      '),
  'base64 of the whole': Buffer.from(pkcs8).toString('base64'),
  'base64 without its labels': der,
  'a certificate in the same text': certificatePem + pkcs8,
};

const encryption = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'correct horse' } as const;
const pemOf = (key: ReturnType<typeof generateKeyPairSync>['privateKey']): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

const bad: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  'an encrypted PKCS#8 key': [pair.privateKey.export({ type: 'pkcs8', ...encryption }).toString(), 'encrypted key'],
  'an encrypted PKCS#1 key': [pair.privateKey.export({ type: 'pkcs1', ...encryption }).toString(), 'encrypted key'],
  'an EC key': [pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey), 'an EC key'],
  'an RSA-PSS key': [pemOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey), 'an RSA-PSS key'],
  'a key of 1,024 bits': [pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey), '2,048 bits'],
  'a certificate': [certificatePem, 'a certificate'],
  'a public key': [publicKey, 'a public key'],
  blanks: [' \n ', 'it is empty'],
  'a placeholder': ['<PRIVATE_KEY>', 'a placeholder'],
  'a key that was cut off': [pkcs8.slice(0, 900), 'damaged or incomplete'],
};

describe('a private key given to configureServer', () => {
  let agent: RecordingUpstream;
  let site: Site;
  const folder = temporaryFolder('keys');

  beforeAll(async () => {
    agent = await RecordingUpstream.start();
    configureServer({
      a2aUrl: `${agent.origin}/a2a`,
      serviceApiUrl: 'https://platform.example/api',
      serviceAuthStrategy: 'service_account',
      serviceAccount: { serviceAccountId: 'site-1' },
    });
    const app = express();
    app.use('/api/a2a', createA2ARouter(express));
    site = await listeningSite(app);
  });
  beforeEach(() => void agent.requests.splice(0));
  afterAll(async () => {
    await site.close();
    await agent.close();
  });

  it('is known to come in thirteen good shapes and ten bad ones', () => {
    expect(Object.keys(good)).toHaveLength(13);
    expect(Object.keys(bad)).toHaveLength(10);
  });

  it.each(Object.entries(good))('is understood as text and as file: %s', async (shape, text) => {
    const path = join(folder, `${shape.replaceAll(/\W/g, '')}.pem`);
    writeFileSync(path, text);
    for (const source of [
      { privateKeyPem: text, privateKeyPath: '' },
      { privateKeyPem: '', privateKeyPath: path },
    ]) {
      // Another key identifier for each, or the token of the last shape would still be good.
      const keyId = `${shape} ${source.privateKeyPath}`.replaceAll(/[^ -~]/g, '');
      configureServer({ serviceAccount: { keyId, ...source } });
      expect((await chatAt(site.url)).status).toBe(200);
      const token = bearerOf(agent.requests.at(-1) ?? { method: '', target: '', fields: [], body: Buffer.alloc(0) });
      await jwtVerify(token, await importSPKI(publicKey, 'RS256'), { issuer: 'site-1' });
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'JWT', kid: keyId });
    }
  });

  it.each(Object.entries(bad))('is refused by name before anything is sent: %s', async (shape, [text, reason]) => {
    const path = join(folder, `bad-${shape.replaceAll(/\W/g, '')}.pem`);
    writeFileSync(path, text);
    for (const [field, source] of [
      ['privateKeyPem', { privateKeyPem: text, privateKeyPath: '' }],
      ['privateKeyPath', { privateKeyPem: '', privateKeyPath: path }],
    ] as const) {
      configureServer({ serviceAccount: { keyId: 'key-1', ...source } });
      const answer = await chatAt(site.url);
      expect(answer.status).toBe(401);
      expect(failureOf(answer)).toMatchObject({
        code: 'service_auth_failed',
        block: 'serviceAccount',
        fields: [field],
      });
      expect(failureOf(answer).message).toContain(reason);
      for (const line of text.split('\n').filter((part) => part.length > 30)) expect(answer.body).not.toContain(line);
      expect(answer.body).not.toContain(folder);
    }
    expect(agent.requests).toEqual([]);
  });

  it('that is configured later replaces the one before, whichever form either has', async () => {
    const rotated = await newServiceAccountKey();
    const path = join(folder, 'rotated.pem');
    writeFileSync(path, rotated.privateKey);
    configureServer({ serviceAccount: { keyId: 'first', privateKeyPem: pkcs8 } });
    configureServer({ serviceAccount: { privateKeyPath: path } });
    expect((await chatAt(site.url)).status).toBe(200);
    await jwtVerify(bearerOf(agent.requests.at(-1) as never), await importSPKI(rotated.publicKey, 'RS256'));
    configureServer({ serviceAccount: { privateKeyPem: pkcs8 } });
    expect((await chatAt(site.url)).status).toBe(200);
    await jwtVerify(bearerOf(agent.requests.at(-1) as never), await importSPKI(publicKey, 'RS256'));
  });

  it('as text wins over a file, which a warning says once', async () => {
    const telemetry = new RecordingTelemetry();
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const path = join(folder, 'other.pem');
    writeFileSync(path, pemOf(other));
    configureServer({ telemetry, serviceAccount: { keyId: 'both', privateKeyPem: pkcs8, privateKeyPath: path } });
    expect((await chatAt(site.url)).status).toBe(200);
    await jwtVerify(bearerOf(agent.requests[0] as never), await importSPKI(publicKey, 'RS256'));
    expect((await chatAt(site.url)).status).toBe(200);
    expect(telemetry.of('warning')).toMatchObject([{ code: 'second_key_unused' }]);
  });
});

describe('a certificate of the application at idp_b', () => {
  let idp: IdpB;
  let cloud: TrustingFetch;
  let forms: Readonly<Record<'pkcs8' | 'pkcs1', ClientCertificate>>;

  beforeAll(async () => {
    forms = { pkcs8: makeClientCertificate(), pkcs1: makeClientCertificate({ keyFormat: 'pkcs1' }) };
    // Strict, as another provider than Entra would be: an assertion is good once.
    const certificates = Object.values(forms).map(({ certificatePem: pem }) => pem);
    idp = await startIdpB({ certificates, strictAssertions: true });
    cloud = publicCloudFetch(idp);
  });
  beforeEach(() => {
    idp.tokenRequests.clear();
    idp.metadataRequests.clear();
  });
  afterAll(async () => {
    await cloud.close();
    await idp.close();
    removeClientCertificates();
  });

  const siteWith = ({ certificatePath, privateKeyPath }: ClientCertificate) => {
    const right = applicationSecret(idp);
    const idpBService = { ...right.idpBService, certificatePath, privateKeyPath };
    return startSite({ ...right, idpBService }, { ports: identityFetch(cloud) });
  };

  it.each(['pkcs8', 'pkcs1'] as const)('is used before the secret beside it: its key in %s form', async (form) => {
    const site = await siteWith(forms[form]);
    expect((await site.chat()).status).toBe(200);
    expect(await idp.verifyAccessToken(site.tokens()[0] ?? '')).toMatchObject({
      sub: idp.client.id,
      aud: idp.audience,
    });
    const wire = idp.tokenRequests.last?.form ?? {};
    expect(wire).toMatchObject({ grant_type: 'client_credentials', client_assertion: '[redacted]', scope: idp.scope });
    expect(wire).not.toHaveProperty('client_secret');
  });

  it.each([
    ['has the key of another', { mismatched: true }, 'does not belong to the certificate'],
    ['has expired', { validToDays: -2 }, 'has expired'],
    ['is not valid yet', { validFromDays: 2 }, 'is not valid yet'],
  ])('that %s is found before any call, and the secret is not tried in its place', async (_title, options, words) => {
    const site = await siteWith(makeClientCertificate(options));
    const answer = await site.chat();
    expect(answer.status).toBe(401);
    expect(failureOf(answer)).toMatchObject({ block: 'idpBService', fields: ['certificatePath', 'privateKeyPath'] });
    expect(failureOf(answer).message).toContain(words);
    expect(idp.metadataRequests.count + idp.tokenRequests.count).toBe(0);
  });

  it('that is exchanged for another broken one is told by the new fault, not by the last', async () => {
    // `configureServer` calls the public cloud itself, but for these faults nobody is called.
    const { certificatePath, privateKeyPath } = forms.pkcs8;
    const right = { ...applicationSecret(idp), serviceAccount: { serviceAccountId: '' } };
    const words = [
      [{ certificatePath: '/nowhere/client.crt', privateKeyPath }, 'at a file that exists'],
      [{ certificatePath: privateKeyPath, privateKeyPath }, 'it holds a private key'],
      [{ certificatePath, privateKeyPath: makeClientCertificate({ mismatched: true }).privateKeyPath }, 'one pair'],
    ] as const;
    for (const [paths, text] of words) {
      const toolkit = configureServer({ ...right, idpBService: { ...right.idpBService, ...paths } });
      await expect(toolkit.authHeaders()).rejects.toThrow(text);
    }
  });

  it('that is missing leaves the client secret in use, though the path of a key stands beside it', async () => {
    const site = await siteWith({ ...forms.pkcs8, certificatePath: '' });
    expect((await site.chat()).status).toBe(200);
    expect(idp.tokenRequests.last?.form).toHaveProperty('client_secret');
  });

  it('that ends within a month works, and the log says so once', async () => {
    const soon = makeClientCertificate({ validToDays: 20 });
    const site = await siteWith(soon);
    await site.chat();
    await site.chat();
    const warnings = site.telemetry.of('warning').filter(({ code }) => code === 'certificate_expires_soon');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.detail).toContain('in 19 days');
  });
});
