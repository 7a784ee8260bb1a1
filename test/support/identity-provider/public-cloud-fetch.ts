import { Agent, buildConnector, fetch } from 'undici';
import type { IdpB } from './identity-provider-b.js';
import type { TrustingFetch } from './trusting-fetch.js';

/** Creates a `fetch` that sends requests for the public cloud to the test provider. */
export function publicCloudFetch(idp: IdpB): TrustingFetch {
  const connect = buildConnector({ ca: idp.ca });
  const [hostname = '', port = ''] = idp.host.split(':');
  const dispatcher = new Agent({
    connect: (options, done) => connect({ ...options, hostname, port, servername: 'localhost' }, done),
  });
  return {
    fetch: (url, options) => fetch(url, { ...options, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}
