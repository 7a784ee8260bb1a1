import { Agent, buildConnector, fetch } from 'undici';
import type { IdpB } from './identity-provider-b.js';

/** A `fetch` for tests of providers. */
export interface TrustingFetch {
  readonly fetch: (url: string, options: object) => Promise<Response>;
  /** Closes its connections. */
  close(): Promise<void>;
}

/** Creates a `fetch` that trusts only the given authority in PEM form. */
export const trustingFetch = (ca: string): TrustingFetch => fetchThrough(new Agent({ connect: { ca } }));

/** Creates a `fetch` that sends requests for the public cloud to the test provider. */
export function publicCloudFetch(idp: IdpB): TrustingFetch {
  const connect = buildConnector({ ca: idp.ca });
  const [hostname = '', port = ''] = idp.host.split(':');
  return fetchThrough(
    new Agent({
      connect: (options, done) => connect({ ...options, hostname, port, servername: 'localhost' }, done),
    }),
  );
}

/** Creates a `fetch` that cannot resolve any name. */
export function lostFetch(): TrustingFetch {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND idp.example'), { code: 'ENOTFOUND' });
  return fetchThrough(new Agent({ connect: { lookup: (_host, _options, done) => done(unknown, '', 4) } }));
}

function fetchThrough(dispatcher: Agent): TrustingFetch {
  return {
    // undici's Response is the global one with another type.
    fetch: (url, options) => fetch(url, { ...options, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}
