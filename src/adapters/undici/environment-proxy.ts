import type { HttpUpstream } from '../../ports/http.js';
import { MAX_HEAD_BYTES } from './connection.js';
import { type DispatcherLike, DispatcherUpstream } from './dispatcher-upstream.js';

let upstream: HttpUpstream | undefined;

/**
 * The proxy that the environment names, where `NODE_USE_ENV_PROXY=1` allows it; `undefined` otherwise. One for all
 * toolkits of a process. Node itself has this for its own `fetch` only, and not on Node 20.
 */
export function environmentProxy(): HttpUpstream | undefined {
  const { NODE_USE_ENV_PROXY, http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env;
  const isNamed = [http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY].some((address) => (address ?? '') !== '');
  if (NODE_USE_ENV_PROXY !== '1' || !isNamed) return undefined;
  return (upstream ??= new DispatcherUpstream(loaded, 'the proxy of HTTP_PROXY and HTTPS_PROXY'));
}

let loading: Promise<DispatcherLike> | undefined;

/** The whole package is loaded in this case only (decision 73). */
function loaded(): Promise<DispatcherLike> {
  return (loading ??= import('undici').then(({ EnvHttpProxyAgent }) => {
    try {
      return new EnvHttpProxyAgent({ maxHeaderSize: MAX_HEAD_BYTES });
    } catch {
      // The error of undici holds the address, which may hold a password.
      throw new Error('HTTP_PROXY or HTTPS_PROXY is not valid: set it to an address such as http://proxy.example:8080');
    }
  }));
}
