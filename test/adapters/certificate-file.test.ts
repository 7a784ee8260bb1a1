import { createPrivateKey, X509Certificate } from 'node:crypto';
import { copyFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import {
  CertificateFile,
  type CertificateFileOptions,
  type CertificateReading,
} from '../../src/adapters/keys/certificate.js';
import { makeClientCertificate, type ClientCertificate } from '../support/identity-provider/index.js';
import { privateAuthority } from '../support/identity-provider/private-authority.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECOND = 1_000;
const DAY = 86_400_000;
const block = 'idpBService';
const clock = { time: Date.now(), now: () => clock.time };

let folder: string;
let good: ClientCertificate;
let renewed: ClientCertificate;
let foreign: ClientCertificate;
let certificatePath: string;
let privateKeyPath: string;
let files = 0;

beforeAll(() => {
  folder = temporaryFolder('certificate-file');
  good = makeClientCertificate();
  renewed = makeClientCertificate({ validToDays: 400 });
  // The key of another pair beside a certificate of the first.
  foreign = makeClientCertificate({ mismatched: true });
});

beforeEach(async () => {
  clock.time = Date.now();
  files += 1;
  certificatePath = join(folder, `${files}.crt`);
  privateKeyPath = join(folder, `${files}.key`);
  await copyFile(good.certificatePath, certificatePath);
  await copyFile(good.privateKeyPath, privateKeyPath);
});

function source(change: Partial<CertificateFileOptions> = {}): CertificateFile {
  return new CertificateFile({ certificatePath, privateKeyPath, block, clock, ...change });
}

function pairIn(reading: CertificateReading): Extract<CertificateReading, { kind: 'certificate' }> {
  if (reading.kind !== 'certificate') throw new Error(`unusable: ${reading.log}`);
  return reading;
}

async function put(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content);
  const later = clock.time / 1000 + (files += 1);
  await utimes(path, later, later);
}

describe('a certificate and its key', () => {
  it('are read with thumbprint and dates', () => {
    const reading = pairIn(source().read());
    const x509 = new X509Certificate(good.certificatePem);
    expect(reading.thumbprintSha256).toMatch(/^[\da-f]{64}$/);
    expect(Buffer.from(reading.thumbprintSha256, 'hex').toString('base64url')).toBe(good.thumbprint);
    expect(reading.notBefore).toBe(Date.parse(x509.validFrom));
    expect(reading.notAfter).toBe(Date.parse(x509.validTo));
  });

  it('are read from each key format and returned as PKCS#8', async () => {
    const old = makeClientCertificate({ keyFormat: 'pkcs1' });
    expect(old.privateKeyPem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----/);
    for (const { privateKeyPem } of [good, old]) {
      await put(privateKeyPath, privateKeyPem);
      const given = pairIn(source().read()).privateKeyPem.reveal();
      expect(given).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
      expect(createPrivateKey(given).equals(createPrivateKey(privateKeyPem))).toBe(true);
    }
  });

  it.each<[string, () => string | Buffer]>([
    ['with Windows line ends', () => good.certificatePem.replaceAll('\n', '\r\n')],
    ['with escaped line ends', () => good.certificatePem.replaceAll('\n', '\\n')],
    ['with a byte order mark', () => `\uFEFF${good.certificatePem}`],
    ['with text before it', () => `subject=CN = client\n${good.certificatePem}`],
    ['with its key in one file', () => good.privateKeyPem + good.certificatePem],
    ['under an old label', () => good.certificatePem.replaceAll(' CERTIFICATE', ' X509 CERTIFICATE')],
    ['in DER form', () => new X509Certificate(good.certificatePem).raw],
  ])('are read from a certificate %s', async (_, content) => {
    await put(certificatePath, content());
    const { thumbprintSha256 } = pairIn(source().read());
    expect(Buffer.from(thumbprintSha256, 'hex').toString('base64url')).toBe(good.thumbprint);
  });

  it('are read from one file', async () => {
    await put(certificatePath, good.certificatePem + good.privateKeyPem);
    for (const path of [certificatePath, '', ' ']) {
      expect(source({ privateKeyPath: path }).read().kind, 'the second path may be empty').toBe('certificate');
    }
  });

  it.each([-3, 3])('are read when they expire in %i days', (validToDays) => {
    const { notAfter } = pairIn(
      new CertificateFile({ ...makeClientCertificate({ validToDays }), block, clock }).read(),
    );
    expect(Math.round((notAfter - clock.now()) / DAY)).toBe(validToDays);
  });
});

describe('an unusable certificate', () => {
  const unusable = (from: CertificateFile): Extract<CertificateReading, { kind: 'unusable' }> => {
    const reading = from.read();
    if (reading.kind === 'certificate') throw new Error('a certificate');
    for (const field of reading.fields) expect(reading.advice).toContain(`"${field}"`);
    expect(reading.advice).toMatch(/^[A-Z][^\n]*"idpBService"[^\n]*\.$/);
    expect(reading.advice).not.toContain(folder);
    return reading;
  };

  it('names the missing path', () => {
    expect(unusable(source({ privateKeyPath: '' }))).toMatchObject({
      reason: 'incomplete',
      fields: ['privateKeyPath'],
      advice: 'Fill in the "idpBService" configuration block: "privateKeyPath".',
    });
    expect(unusable(source({ certificatePath: ' ', privateKeyPath: ' ' }))).toMatchObject({
      reason: 'incomplete',
      advice: 'Fill in the "idpBService" configuration block: "certificatePath", "privateKeyPath".',
    });
    const absent = source({ certificatePath: join(folder, 'absent'), privateKeyPath: '' });
    expect(unusable(absent)).toMatchObject({ reason: 'refused', fields: ['certificatePath'] });
  });

  it.each(['certificatePath', 'privateKeyPath'])('names %s when its file does not exist', (field) => {
    const absent = join(folder, 'absent');
    expect(unusable(source({ [field]: absent }))).toEqual({
      kind: 'unusable',
      reason: 'refused',
      fields: [field],
      advice: `Point "${field}" in the "idpBService" configuration block at a file that exists.`,
      log: `${field}: ENOENT: ${absent}`,
    });
  });

  it.each<[string, () => Partial<CertificateFileOptions>, string[]]>([
    ['the certificate is a folder', () => ({ certificatePath: folder }), ['certificatePath']],
    ['the key is a folder', () => ({ privateKeyPath: folder }), ['privateKeyPath']],
    ['the certificate is its own text', () => ({ certificatePath: good.certificatePem }), ['certificatePath']],
    ['the key is its own text', () => ({ privateKeyPath: good.privateKeyPem }), ['privateKeyPath']],
  ])('names its field when %s', (_, change, fields) => {
    const { log: detail, advice } = unusable(source(change()));
    expect(unusable(source(change()))).toMatchObject({ reason: 'refused', fields });
    expect(detail + advice).not.toContain(good.privateKeyPem.slice(60, 100));
    expect(advice).not.toContain('privateKeyPem');
  });

  it('shows no part of a key given in place of its path', () => {
    const bare = good.privateKeyPem.replace(/-----[^-]+-----|\n/g, '');
    const { log: detail } = unusable(source({ certificatePath: bare }));
    expect(detail).toMatch(/^certificatePath: (?:ENAMETOOLONG|ENOENT): a value that is not a path$/);
  });

  it.each<[string, () => string | Buffer, RegExp]>([
    ['nothing', () => ' \n', /it is empty\.$/],
    ['a private key', () => good.privateKeyPem, /a private key\.$/],
    ['a public key', () => '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----', /a public key\.$/],
    [
      'a request',
      () => '-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----',
      /a certificate request\.$/,
    ],
    ['half a certificate', () => good.certificatePem.slice(0, 500), /a damaged or incomplete certificate\.$/],
    ['a damaged certificate', () => good.certificatePem.replace(/\nMII/, '\nAAA'), /a damaged or incomplete/],
    ['another PEM text', () => '-----BEGIN DH PARAMETERS-----\nMIIB\n-----END DH PARAMETERS-----', /no certificate\.$/],
    ['anything else', () => 'hello', /it holds no certificate\.$/],
  ])('is reported when its file holds %s', async (_, content, advice) => {
    await put(certificatePath, content());
    const reading = unusable(source());
    expect(reading).toMatchObject({ reason: 'refused', fields: ['certificatePath'] });
    expect(reading.advice).toMatch(advice);
  });

  it('names an unusable key', async () => {
    await put(privateKeyPath, '<PRIVATE_KEY>');
    const watched = source({ telemetry: new RecordingTelemetry() });
    expect(unusable(watched)).toMatchObject({ reason: 'refused', fields: ['privateKeyPath'] });
  });

  it('names both fields when the key belongs to another certificate', () => {
    expect(unusable(new CertificateFile({ ...foreign, block, clock }))).toMatchObject({
      reason: 'refused',
      fields: ['certificatePath', 'privateKeyPath'],
      advice: expect.stringMatching(/at one pair: the key does not belong to the certificate\.$/),
      log: `certificatePath, privateKeyPath: the key does not belong to the certificate: ${foreign.privateKeyPath}, ${foreign.certificatePath}`,
    });
  });
});

describe('the certificate of a key in a chain', () => {
  it('is found anywhere in the chain', async () => {
    const authority = privateAuthority().ca;
    await put(certificatePath, authority + renewed.certificatePem + good.certificatePem);
    const { thumbprintSha256 } = pairIn(source().read());
    expect(Buffer.from(thumbprintSha256, 'hex').toString('base64url')).toBe(renewed.thumbprint);
  });
});

describe('a certificate that changed', () => {
  const thumbprint = (from: CertificateFile): string =>
    Buffer.from(pairIn(from.read()).thumbprintSha256, 'hex').toString('base64url');

  it('keeps the last pair while only one file is new', async () => {
    const watching = source();
    watching.read();
    await put(privateKeyPath, foreign.privateKeyPem);
    clock.time += 30 * SECOND;
    expect(thumbprint(watching)).toBe(good.thumbprint);
    await put(privateKeyPath, good.privateKeyPem);
    await put(certificatePath, renewed.certificatePem);
    clock.time += 30 * SECOND;
    expect(thumbprint(watching)).toBe(renewed.thumbprint);
  });
});

describe('a certificate that expires soon', () => {
  it('is announced once a day during its last 30 days', () => {
    const telemetry = new RecordingTelemetry();
    const certificate = makeClientCertificate({ validToDays: 60 });
    const watching = new CertificateFile({ ...certificate, block, clock, telemetry });
    const { notAfter } = pairIn(watching.read());

    for (const [daysLeft, announced] of [
      [31, 0],
      [30, 1],
      [29.5, 1],
      [29, 2],
      [1, 3],
      [0, 3],
    ] as const) {
      clock.time = notAfter - daysLeft * DAY;
      watching.read();
      expect(telemetry.events).toHaveLength(announced);
    }
    expect(telemetry.events[0]).toEqual({
      type: 'warning',
      code: 'certificate_expires_soon',
      detail: `the certificate of idpBService.certificatePath expires on ${new Date(notAfter).toISOString()}, in 30 days`,
    });
  });

  it('is announced again for its successor', async () => {
    const telemetry = new RecordingTelemetry();
    const watching = source({ telemetry });
    for (const validToDays of [10, 20]) {
      await put(certificatePath, makeClientCertificate({ validToDays }).certificatePem);
      clock.time += 30 * SECOND;
      watching.read();
    }
    expect(telemetry.events).toHaveLength(2);
  });
});

describe('printing a certificate source', () => {
  it('shows no key before or after reading', () => {
    const used = source();
    const shown: unknown[] = [used, used.read(), used, source({ privateKeyPath: good.privateKeyPem })];
    const prints = shown.map((value) => inspect(value, { depth: 12, showHidden: true }) + JSON.stringify(value));
    for (const text of [good.privateKeyPem.slice(60, 100), 'BEGIN PRIVATE KEY'])
      expect(prints.join()).not.toContain(text);
  });
});
