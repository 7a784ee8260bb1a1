import { CertificateFile } from '../../adapters/keys/certificate.js';
import { privateKeySource } from '../../adapters/keys/private-key.js';
import type { Clock } from '../../ports/clock.js';
import type { ResolvedIdpB, ResolvedServiceAccount } from '../config/resolve-config.js';
import type { Finding } from './finding.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** Parses the private key of the service account, from wherever the configuration says. */
export async function serviceAccountKey(account: ResolvedServiceAccount, clock: Clock): Promise<Finding> {
  const check = 'private key';
  const block = 'serviceAccount';
  const source = privateKeySource(account, block, clock);
  if (source === undefined) {
    const fields = ['privateKeyPem', 'privateKeyPath'];
    return { check, result: 'failed', message: 'none is configured', block, fields };
  }
  const reading = await source.read();
  if (reading.kind === 'unusable') {
    return {
      check,
      result: 'failed',
      message: `${reading.advice} (${reading.detail})`,
      block,
      fields: [reading.field],
    };
  }
  if (account.privateKeyPem !== undefined && account.privateKeyPath !== '') {
    const fields = ['privateKeyPem', 'privateKeyPath'];
    return { check, result: 'warning', message: 'the text is used; the file beside it is not', block, fields };
  }
  return { check, result: 'ok', message: `RSA, public half SHA-256 ${reading.fingerprint}` };
}

/** Reads the certificate of an application, and compares it with its key and with the calendar; nothing when none is configured. */
export async function certificate(
  application: ResolvedIdpB,
  clock: Clock,
  block = 'idpBService',
): Promise<readonly Finding[]> {
  const { certificatePath, privateKeyPath, clientSecret } = application;
  if (certificatePath === '' && (privateKeyPath === '' || clientSecret.reveal() !== '')) return [];
  const check = 'certificate';
  const reading = await new CertificateFile({ certificatePath, privateKeyPath, block, clock }).read();
  if (reading.kind === 'unusable') {
    const { advice, detail, fields } = reading;
    return [{ check, result: 'failed', message: `${advice} (${detail})`, block, fields }];
  }
  const { notBefore, notAfter, thumbprintSha256 } = reading;
  const both = { block, fields: ['certificatePath', 'privateKeyPath'] };
  const unused = clientSecret.reveal() === '' ? '' : '; used before the client secret';
  return [
    { check, result: 'ok', message: `matches its key, SHA-256 ${thumbprintSha256}${unused}` },
    { check: 'certificate dates', ...dates(notBefore, notAfter, clock.now()), ...both },
  ];
}

function dates(notBefore: number, notAfter: number, now: number): Pick<Finding, 'result' | 'message'> {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  if (now < notBefore) return { result: 'failed', message: `it is not valid yet: it starts on ${day(notBefore)}` };
  if (now > notAfter) return { result: 'failed', message: `it has expired: it ended on ${day(notAfter)}` };
  const days = Math.floor((notAfter - now) / DAY_MS);
  if (days >= SOON_DAYS) return { result: 'ok', message: `valid until ${day(notAfter)}` };
  return { result: 'warning', message: `valid until ${day(notAfter)}, ${String(days)} days from now` };
}
