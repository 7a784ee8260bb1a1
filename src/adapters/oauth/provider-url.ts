import { isLoopback } from '../../domain/shared/paths.js';

/**
 * The configured address of a provider, `https` if it has no scheme; otherwise what is wrong with it. The value is left
 * out: someone may have pasted a secret into the wrong field.
 */
export function providerUrl(text: string): URL | string {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return 'is neither a host name nor an address';
  const url = new URL(address);
  const { protocol, hostname, username, password, search, hash } = url;
  if (username + password + search + hash !== '') return 'must have no user, query or fragment';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return url;
  return 'must be an https address; http is allowed on this machine only';
}
