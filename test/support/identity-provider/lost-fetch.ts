import { Agent, fetch } from 'undici';
import type { TrustingFetch } from './trusting-fetch.js';

/** Creates a `fetch` that cannot resolve any name. */
export function lostFetch(): TrustingFetch {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND idp.example'), { code: 'ENOTFOUND' });
  const dispatcher = new Agent({ connect: { lookup: (_host, _options, done) => done(unknown, '', 4) } });
  return {
    fetch: (url, options) => fetch(url, { ...options, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.close(),
  };
}
