import { CertificateFile } from '../../adapters/keys/certificate.js';
import { privateKeySource } from '../../adapters/keys/private-key.js';
import type { Clock } from '../../ports/clock.js';
import type { ResolvedIdpB, ResolvedServiceAccount } from '../config/resolve-config.js';
import { failed, type Finding, named, passed, type Place, warning } from './finding.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** Parses the private key of the service account, from wherever the configuration says. */
export async function serviceAccountKey(account: ResolvedServiceAccount, clock: Clock): Promise<Finding> {
  const check = 'private key';
  const block = 'serviceAccount';
  const both = { block, fields: ['privateKeyPem', 'privateKeyPath'] };
  const source = privateKeySource(account, block, clock);
  if (source === undefined) {
    const fix = 'Set "privateKeyPem" or "privateKeyPath" in the "serviceAccount" configuration block.';
    return failed(check, 'none is configured', both, fix);
  }
  const reading = await source.read();
  if (reading.kind === 'unusable') {
    return failed(check, reading.detail, { block, fields: [reading.field] }, reading.advice);
  }
  if (account.privateKeyPem !== undefined && account.privateKeyPath !== '') {
    const fix = 'Leave one of "privateKeyPem" and "privateKeyPath" out of the "serviceAccount" configuration block.';
    return warning(check, 'the text is used; the file beside it is not', both, fix);
  }
  return passed(check, `RSA, public half SHA-256 ${reading.fingerprint}`);
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
    return [failed(check, detail, { block, fields }, advice)];
  }
  const { notBefore, notAfter, thumbprintSha256 } = reading;
  const unused = clientSecret.reveal() === '' ? '' : '; used before the client secret';
  return [
    passed(check, `matches its key, SHA-256 ${thumbprintSha256}${unused}`),
    dates(notBefore, notAfter, clock.now(), { block, fields: ['certificatePath', 'privateKeyPath'] }),
  ];
}

function dates(notBefore: number, notAfter: number, now: number, place: Place): Finding {
  const check = 'certificate dates';
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const renew = `Register a new certificate, and set ${named(place)} to it.`;
  if (now < notBefore) {
    const fix = `Set the clock of this machine, or wait, or use another certificate in ${named(place)}.`;
    return failed(check, `it is not valid yet: it starts on ${day(notBefore)}`, place, fix);
  }
  if (now > notAfter) return failed(check, `it has expired: it ended on ${day(notAfter)}`, place, renew);
  const days = Math.floor((notAfter - now) / DAY_MS);
  if (days >= SOON_DAYS) return passed(check, `valid until ${day(notAfter)}`);
  return warning(check, `valid until ${day(notAfter)}, ${String(days)} days from now`, place, renew);
}
