import { randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** The contents and the signer of a certificate. */
export interface CertificateRequest {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** True if the certificate may sign others. */
  readonly authority: boolean;
  /** Host names and IPv4 addresses it is valid for. */
  readonly hosts: readonly string[];
}

/** Creates an X.509 v3 certificate in PEM form with any dates, without a command-line tool (RFC 5280 §4.1). */
export function issueCertificate(request: CertificateRequest): string {
  const algorithm = request.signingKey.asymmetricKeyType === 'ec' ? ECDSA_SHA256 : RSA_SHA256;
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    name(request.issuer),
    sequence(time(request.validFrom), time(request.validTo)),
    name(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions(request))),
  );
  const signature = sign('sha256', body, request.signingKey);
  const base64 = sequence(body, algorithm, bitString(signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
}

function extensions({ authority, hosts }: CertificateRequest): Buffer[] {
  const list = [
    sequence(objectId('2.5.29.19'), TRUE, octetString(authority ? sequence(TRUE) : sequence())),
    // keyCertSign for an authority, digitalSignature for a leaf.
    sequence(objectId('2.5.29.15'), TRUE, octetString(tag(0x03, Buffer.from(authority ? [2, 0x04] : [7, 0x80])))),
  ];
  if (hosts.length > 0) {
    const names = hosts.map((host) =>
      isIPv4(host) ? tag(0x87, Buffer.from(host.split('.').map(Number))) : tag(0x82, Buffer.from(host)),
    );
    list.push(sequence(objectId('2.5.29.17'), octetString(sequence(...names))));
  }
  return list;
}

function tag(type: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([type, length]), content]);
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([type, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts));
}

function explicit(position: number, content: Buffer): Buffer {
  return tag(0xa0 + position, content);
}

function integer(bytes: Buffer): Buffer {
  return tag(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return tag(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function octetString(bytes: Buffer): Buffer {
  return tag(0x04, bytes);
}

function name(common: string): Buffer {
  return sequence(tag(0x31, sequence(objectId('2.5.4.3'), tag(0x0c, Buffer.from(common)))));
}

// Years before 2050 are UTCTime with two digits (RFC 5280 §4.1.2.5).
function time(date: Date): Buffer {
  return tag(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-T:]/g, '')}Z`));
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tag(0x06, Buffer.from(bytes));
}

const TRUE = tag(0x01, Buffer.from([0xff]));
const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));
const RSA_SHA256 = sequence(objectId('1.2.840.113549.1.1.11'), tag(0x05, Buffer.alloc(0)));
