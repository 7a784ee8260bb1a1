import { networkFault } from '../../domain/shared/network-fault.js';
import { REDACTED } from '../../domain/shared/secret.js';
import type { UpstreamFailureReason } from '../../ports/http.js';

/** The meaning of undici's and Node's error codes for the caller; all others are `unreachable`. */
const REASONS: Readonly<Record<string, UpstreamFailureReason>> = {
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'invalid',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'invalid',
  ERR_ASSERTION: 'invalid',
};

/** The errors undici makes of a proxy's response. */
const PROXY_REFUSAL = /^Proxy (?:response|Authentication Required) \((\d{3})\)/;

export function reasonOf(error: Error): UpstreamFailureReason {
  const code = codeOf(error);
  // Some are named like the abort of a caller.
  if (PROXY_REFUSAL.test(error.message)) return 'unreachable';
  // "bad upgrade", "bad response": an unsolicited 101, or bytes without a request.
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad ') ? 'invalid' : 'reset';
  if (REASONS[code] !== undefined) return REASONS[code];
  if (error.name === 'AbortError') return 'aborted';
  if (error.name === 'HTTPParserError' || code.startsWith('HPE_')) return 'invalid';
  return /^(?:unexpected upgrade|status \d+|unreadable [a-z-]+)$/.test(error.message) ? 'invalid' : 'unreachable';
}

/** For operators; undici's messages hold addresses and codes, but no header fields. A password in an address is left out. */
export function describeError(error: Error, isStale = false): string {
  const code = codeOf(error);
  const message = error.message.replace(/\/\/[^\s/@]+@/g, `//${REDACTED}@`);
  if (code === '') return `${error.name}: ${message}`;
  const fault = isStale
    ? 'an idle connection was closed as the request was sent'
    : (proxyFault(message) ?? networkFault(code));
  return `${code}: ${message}${fault === undefined ? '' : ` (${fault})`}`;
}

function proxyFault(message: string): string | undefined {
  const [, status] = PROXY_REFUSAL.exec(message) ?? [];
  if (status === undefined) return undefined;
  return status === '407'
    ? 'the proxy requires another user name and password; correct them in its address'
    : 'the proxy refuses this host; allow it there';
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}
