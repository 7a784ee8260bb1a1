import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { pemAdvice } from '../../src/adapters/keys/advice.js';
import { readPem } from '../../src/adapters/keys/pem.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs8 = pem(privateKey);
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const body = derOf(pkcs8);
// node:crypto cannot create certificates. Only the type of this one matters.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBQjCB9aADAgECAhQVw2QYMcQ9zJVxLKoSDtKi0U5zojAFBgMrZXAwFzEVMBMG
A1UEAwwMc2l0ZS5leGFtcGxlMB4XDTI2MTEyMTAyNTkzOVoXDTM2MTExODAyNTkz
OVowFzEVMBMGA1UEAwwMc2l0ZS5leGFtcGxlMCowBQYDK2VwAyEAIy41QV2Z4ihw
pbC3lMjezxy4VstAk8oXtxYKf9wL8w6jUzBRMB0GA1UdDgQWBBT/Pd4XZc43VM4G
AEKAHUWSLV1erDAfBgNVHSMEGDAWgBT/Pd4XZc43VM4GAEKAHUWSLV1erDAPBgNV
HRMBAf8EBTADAQH/MAUGAytlcANBAOKzuxb5AN0Fs2iNmiO0950k70qToaGm6ecu
R1kWjbCF4Ag2HAqqgnI12cxqHK7yns3vY9moS1GGy14oroL4Rgg=
-----END CERTIFICATE-----
`;

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function derOf(text: string): string {
  return text.replace(/-----[^-]+-----|\n/g, '');
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

const shapes: Readonly<Record<string, string>> = {
  'PKCS#8 with line feeds': pkcs8,
  'PKCS#8 with carriage returns': pkcs8.replaceAll('\n', '\r\n'),
  'PKCS#1': pkcs1,
  'one line with \\n': pkcs8.replaceAll('\n', '\\n'),
  'one line with \\r\\n': pkcs8.replaceAll('\n', '\\r\\n'),
  'newlines turned into spaces': pkcs8.replaceAll('\n', ' '),
  'a byte order mark in front': `\uFEFF${pkcs8}`,
  'double quotes around it': `"${pkcs8.replaceAll('\n', '\\n')}"`,
  'single quotes around it': `'${pkcs8}'`,
  'indented lines': pkcs8.replaceAll(/^/gm, '    '),
  'base64 of the PEM': base64(pkcs8),
  'base64 without BEGIN and END': body,
  'certificate and key in one text': certificate + pkcs8,
  'words before and after it': `<key>\n${pkcs8}...`,
};

const moreShapes: Readonly<Record<string, string>> = {
  '\\r\\n escaped twice': pkcs8.replaceAll('\n', '\\\\r\\\\n'),
  'PKCS#1 bytes in base64': derOf(pkcs1),
  'PKCS#8 bytes under a PKCS#1 label': pkcs8.replaceAll('PRIVATE KEY', 'RSA PRIVATE KEY'),
  'wrapped base64 in quotes': `"${base64(pkcs8).replace(/.{76}/g, '$&\n')}"\n`,
};

describe('a private key', () => {
  it.each(Object.entries({ ...shapes, ...moreShapes }))('is read in the shape: %s', (_shape, text) => {
    const reading = readPem(text);
    if (reading.kind !== 'key') throw new Error(`refused: ${reading.fault}`);

    expect(reading.pem.reveal()).toBe(pkcs8);
    const message = Buffer.from('signed by the key that was read');
    expect(verify('sha256', message, publicKey, sign('sha256', message, reading.pem.reveal()))).toBe(true);
  });
});

const encryptedWith = { cipher: 'aes-256-cbc', passphrase: 'correct horse' } as const;
const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', ...encryptedWith }).toString();
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
// Letter 200 is inside the modulus. The text still parses as a key, but its signatures cannot be verified.
const oneLetterWrong = body.slice(0, 200) + (body[200] === 'A' ? 'B' : 'A') + body.slice(201);

const refusals: readonly (readonly [title: string, text: string, fault: string])[] = [
  ['nothing', '', 'is empty'],
  ['blanks', ' \r\n ', 'is empty'],
  ['a pair of quotes', '" "', 'is empty'],
  ['a placeholder', '<PRIVATE_KEY>', 'holds a placeholder'],
  ['an unexpanded variable', '${PRIVATE_KEY}', 'holds a placeholder'],
  ['a template', '{{ .Values.key }}', 'holds a placeholder'],
  ['dots between the labels', wrapped('PRIVATE KEY', '...'), 'holds a placeholder'],
  ['an encrypted PKCS#8 key', encrypted, 'holds an encrypted key'],
  ['an encrypted PKCS#8 key without labels', derOf(encrypted), 'holds an encrypted key'],
  ['half an encrypted PKCS#8 key', wrapped('ENCRYPTED PRIVATE KEY', body.slice(0, 800)), 'holds an encrypted key'],
  ['an encrypted PKCS#1 key', pkcs1Encrypted(), 'holds an encrypted key'],
  ['an EC key', pem(ec), 'holds an EC key'],
  ['an EC key of the older form', ec.export({ type: 'sec1', format: 'pem' }).toString(), 'holds an EC key'],
  ['an RSA-PSS key', pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey), 'holds an RSA-PSS key'],
  ['an Ed25519 key', pem(generateKeyPairSync('ed25519').privateKey), 'holds a key that is not RSA'],
  ['a DSA key of the older form', wrapped('DSA PRIVATE KEY', body), 'holds a key that is not RSA'],
  ['a key of 1,024 bits', pem(short), 'holds a key of fewer than 2,048 bits'],
  ['a certificate', certificate, 'holds a certificate'],
  ['a certificate without labels', derOf(certificate), 'holds a certificate'],
  ['a public key', spki, 'holds a public key'],
  ['a public key without labels', derOf(spki), 'holds a public key'],
  ['a public key for SSH', 'ssh-rsa AAAAB3NzaC1yc2E= deploy@site.example', 'holds a public key'],
  ['an OpenSSH key', wrapped('OPENSSH PRIVATE KEY', body), 'holds a key in OpenSSH form'],
  ['a key cut off at the end', pkcs8.slice(0, 900), 'holds a damaged or incomplete key'],
  ['a certificate and half a key', certificate + pkcs8.slice(0, 900), 'holds a damaged or incomplete key'],
  ['a key with lines missing', wrapped('PRIVATE KEY', body.slice(0, 800)), 'holds a damaged or incomplete key'],
  [
    'a key with foreign letters in it',
    wrapped('PRIVATE KEY', `**${body.slice(2)}`),
    'holds a damaged or incomplete key',
  ],
  ['a key with one letter wrong', wrapped('PRIVATE KEY', oneLetterWrong), 'holds a damaged or incomplete key'],
  ['base64 of something else', base64('nothing that anybody would sign with'), 'holds a damaged or incomplete key'],
  ['a path', '/etc/keys/site.pem', 'holds no key'],
];

function wrapped(label: string, text: string): string {
  return `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
}

function pkcs1Encrypted(): string {
  return privateKey.export({ type: 'pkcs1', format: 'pem', ...encryptedWith }).toString();
}

describe('a text that is not a usable key', () => {
  it.each(refusals)('is refused as %s', (_title, text, fault) => {
    const reading = readPem(text);

    expect(reading).toMatchObject({ kind: 'refused', fault });
    expect(pemAdvice('privateKeyPem', 'serviceAccount', fault)).toContain(`: it ${fault}.`);
  });

  it('may be a path, which has a field of its own', () => {
    expect(pemAdvice('privateKeyPem', 'serviceAccount', 'holds no key')).toMatch(
      / A path goes into "privateKeyPath"\.$/,
    );
  });

  it('is never quoted in a refusal', () => {
    for (const [, text, fault] of refusals.filter(([, text]) => text.length > 100)) {
      const told = inspect(readPem(text)) + pemAdvice('privateKeyPath', 'serviceAccount', fault);
      for (const line of text.split('\n').filter((part) => part.length > 20)) expect(told).not.toContain(line.trim());
    }
  });
});
