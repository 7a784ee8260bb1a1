import type { CustomFetch } from 'openid-client';

/** A `fetch` under this deadline in place of openid-client's limit for each single request. */
export function fetchWithin(deadline: AbortSignal, fetch: CustomFetch): CustomFetch {
  return (url, options) => fetch(url, { ...options, signal: deadline });
}
