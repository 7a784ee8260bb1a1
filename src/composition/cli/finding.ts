import { clockDifference } from '../../domain/shared/clock-difference.js';
import { isAgentBffError } from '../../domain/shared/errors.js';
import { networkFault } from '../../domain/shared/network-fault.js';
import { quoted } from '../../domain/shared/setting.js';

/** A suspect in the configuration. */
export interface Suspect {
  /** The configuration block, or `environment` or `command line`. */
  readonly block: string;
  readonly fields: readonly string[];
}

/** One line of the doctor's table. */
export interface Finding extends Partial<Suspect> {
  /** The subject of the check, such as `token`. */
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The result in words, with the reason for a failure; never a secret. */
  readonly message: string;
  /** The fix for a failure or a warning: one sentence that names block and field. */
  readonly fix?: string;
  /** The variables that set the fields, if the configuration comes from the environment. */
  readonly variables?: readonly string[];
}

/** A successful check. */
export function passed(check: string, message: string): Finding {
  return { check, result: 'ok', message };
}

/** A check that was not run. */
export function skipped(check: string, message: string = 'skipped: fix the above first'): Finding {
  return { check, result: 'skipped', message };
}

/** A failed check; the suspect is added to `fix` if it does not name it. */
export function failed(check: string, message: string, suspect: Suspect, fix: string = ''): Finding {
  const { block, fields } = suspect;
  return { check, result: 'failed', message, block, fields, fix: complete(fix, suspect) };
}

/** A check that passed but may be unintended. */
export function warning(check: string, message: string, suspect: Suspect, fix: string = ''): Finding {
  return { ...failed(check, message, suspect, fix), result: 'warning' };
}

/**
 * The finding for an error of this package.
 *
 * @throws any error of another origin.
 */
export function refused(check: string, error: unknown): Finding {
  if (!isAgentBffError(error)) throw error;
  const { detail, hint, block = 'configureServer', fields } = error;
  return failed(check, detail, { block, fields }, hint);
}

/** A suspect in the fields of `configureServer` itself. */
export function topLevel(...fields: readonly string[]): Suspect {
  return { block: 'configureServer', fields };
}

/** Names of places that are not configuration blocks. */
const OUTSIDE = ['environment', 'command line', 'machine'];

/** A suspect as part of a sentence. */
export function named({ block, fields }: Suspect): string {
  if (block === 'environment') return `the environment variable ${fields.join(', ')}`;
  if (block === 'command line') return `${fields.join(', ')} on the command line`;
  const within = block === 'configureServer' ? block : `the "${block}" configuration block`;
  return fields.length === 0 ? within : `${listed(fields)} in ${within}`;
}

/** A fix with its missing suspect: an error for visitors names either the block or the fields. */
function complete(fix: string, suspect: Suspect): string {
  if (fix === '') return `Check ${named(suspect)}.`;
  const { block, fields } = suspect;
  if (OUTSIDE.includes(block))
    return fields.some((field) => fix.includes(field)) ? fix : `${fix} Correct ${named(suspect)}.`;
  const namesField = fields.length === 0 || fields.some((field) => fix.includes(`"${field}"`));
  if (fix.includes(block)) return namesField ? fix : `${fix} Look at ${listed(fields)} there.`;
  return `${fix} Correct ${named(suspect)}.`;
}

function listed(fields: readonly string[]): string {
  return [quoted(fields.slice(0, -1)), quoted(fields.slice(-1))].filter(Boolean).join(' and ');
}

const CLOCK = { block: 'machine', fields: ['clock'] };
const SET_CLOCK = 'Set the clock of this machine, for example by NTP.';

/** Compares the local clock with another one; `aheadMs` is the lead of the local clock. */
export function clocks(check: string, aheadMs: number, other: string): Finding {
  const difference = clockDifference(aheadMs, other);
  if (difference === '') return passed(check, `agrees with ${other}`);
  return warning(check, `${difference}: tokens may be refused`, CLOCK, SET_CLOCK);
}

/** A failure that is only possible if the local clock is wrong. */
export function clockProblem(check: string, message: string): Finding {
  return failed(check, message, CLOCK, SET_CLOCK);
}

/** Advice for an error code of Node, OpenSSL or undici; the suspect of the address completes each sentence. */
const FIXES: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^ECONNREFUSED$/, 'Start the server there, or correct the port in'],
  [/^ENOTFOUND$/, 'Correct the host name in'],
  [/^EAI_AGAIN$/, 'Configure a working name server for this machine or container, or correct the host name in'],
  [
    /TIMEDOUT$|TIMEOUT|^(?:EHOST|ENET)UNREACH$/,
    'Allow this machine to reach the host (firewall, proxy, VPN), or correct',
  ],
  [
    /SELF_SIGNED|^UNABLE_TO_/,
    'Set the environment variable NODE_EXTRA_CA_CERTS to the PEM file of its authority before the process starts, or correct',
  ],
  [/^CERT_HAS_EXPIRED$/, 'Have the certificate of this server renewed, or correct'],
  [/^CERT_NOT_YET_VALID$/, 'Set the clock of this machine, or correct'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Use a host name of the certificate in'],
  [/^ERR_SSL_|^EPROTO$/, 'Use http instead of https, or correct the port, in'],
  [/^HPE_|^ECONNRESET$|^UND_ERR_SOCKET$/, 'Use https instead of http, or correct the port, in'],
];

/** One sentence for the error code at the start of a text; `undefined` if there is no known code. */
export function networkFix(text: string, suspect: Suspect): string | undefined {
  const code = codeOf(text);
  const [, advice] = FIXES.find(([one]) => one.test(code)) ?? [];
  return advice === undefined ? undefined : `${advice} ${named(suspect)}.`;
}

/** The error code at the start of a text, and its meaning. The rest of the text is dropped, since it may contain anything. */
export function withMeaning(text: string): string | undefined {
  const code = codeOf(text);
  const meaning = networkFault(code);
  return meaning === undefined ? undefined : `${code}, ${meaning}`;
}

function codeOf(text: string): string {
  return /^[A-Z][A-Z0-9_]{3,}/.exec(text)?.[0] ?? '';
}
