import { networkFault } from '../../domain/shared/network-fault.js';
import { named, type Place } from './finding.js';

/** What to do about an error code of Node, OpenSSL or undici; the place of the address completes each sentence. */
const FIXES: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^ECONNREFUSED$/, 'Start the server there, or correct the port in'],
  [/^ENOTFOUND$/, 'Correct the host name in'],
  [/^EAI_AGAIN$/, 'Give this machine or container a name server that responds, or correct the host name in'],
  [/TIMEDOUT$|TIMEOUT|^(?:EHOST|ENET)UNREACH$/, 'Let this machine reach the host (firewall, proxy, VPN), or correct'],
  [
    /SELF_SIGNED|^UNABLE_TO_/,
    'Set the environment variable NODE_EXTRA_CA_CERTS to the PEM file of its authority before the process starts, or correct',
  ],
  [/^CERT_HAS_EXPIRED$/, 'Have the certificate of this server renewed, or correct'],
  [/^CERT_NOT_YET_VALID$/, 'Set the clock of this machine, or correct'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Write a host name that the certificate is for in'],
  [/^ERR_SSL_|^EPROTO$/, 'Write http in place of https, or correct the port, in'],
  [/^HPE_|^ECONNRESET$|^UND_ERR_SOCKET$/, 'Write https in place of http, or correct the port, in'],
];

/** One sentence for the code with which a text begins; `undefined` when it begins with none that is known. */
export function networkFix(text: string, place: Place): string | undefined {
  const code = codeOf(text);
  const [, advice] = FIXES.find(([one]) => one.test(code)) ?? [];
  return advice === undefined ? undefined : `${advice} ${named(place)}.`;
}

/** The code with which a text begins, and what it means; the rest of the text may hold anything. */
export function withMeaning(text: string): string | undefined {
  const code = codeOf(text);
  const meaning = networkFault(code);
  return meaning === undefined ? undefined : `${code}, ${meaning}`;
}

function codeOf(text: string): string {
  return /^[A-Z][A-Z0-9_]{3,}/.exec(text)?.[0] ?? '';
}
