import type { KeyFact } from '../../ports/provider-descriptor.js';
import { failed, type Finding, named, passed, type Place, warning } from './finding.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;

/** Findings about the key or the certificate of a provider; `now` is milliseconds since the epoch. */
export function keyFindings(fact: KeyFact, now: number): readonly Finding[] {
  const { block } = fact;
  if (fact.kind === 'unusable') {
    return [failed(fact.check, fact.detail, { block, fields: fact.fields }, fact.advice)];
  }
  if (fact.kind === 'private key') {
    const check = 'private key';
    if (!fact.hasUnusedFile) return [passed(check, `RSA, public half SHA-256 ${fact.fingerprint}`)];
    const both = { block, fields: ['privateKeyPem', 'privateKeyPath'] };
    const fix = `Leave one of "privateKeyPem" and "privateKeyPath" out of the "${block}" configuration block.`;
    return [warning(check, 'the text is used; the file beside it is not', both, fix)];
  }
  const unused = fact.hasUnusedSecret ? '; used before the client secret' : '';
  return [
    passed('certificate', `matches its key, SHA-256 ${fact.thumbprint}${unused}`),
    dates(fact.notBefore, fact.notAfter, now, { block, fields: ['certificatePath', 'privateKeyPath'] }),
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
