import { networkFault } from '../../domain/shared/network-fault.js';
import type { UpstreamFailureReason } from '../../ports/http.js';

/** undici's and Node's error codes, by what they mean to the caller (reliability-security.md §4.1). */
export function reasonOf(error: Error): UpstreamFailureReason {
  const code = codeOf(error);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'ETIMEDOUT':
      return 'timeout';
    case 'UND_ERR_SOCKET':
      // "bad upgrade", "bad response": a 101 nobody asked for, or bytes without a request.
      return error.message.startsWith('bad ') ? 'invalid' : 'reset';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'reset';
    case 'UND_ERR_HEADERS_OVERFLOW':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'ERR_ASSERTION':
      return 'invalid';
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'unreachable';
    default:
      break;
  }
  if (error.name === 'AbortError') return 'aborted';
  if (error.name === 'HTTPParserError' || code.startsWith('HPE_')) return 'invalid';
  return /^(?:unexpected upgrade|status \d+|unreadable [a-z-]+)$/.test(error.message) ? 'invalid' : 'unreachable';
}

/** For operators; undici's messages hold addresses and codes, and never a header field. */
export function describeError(error: Error): string {
  const code = codeOf(error);
  if (code === '') return `${error.name}: ${error.message}`;
  const fault = networkFault(code);
  return `${code}: ${error.message}${fault === undefined ? '' : ` (${fault})`}`;
}

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : '';
}
