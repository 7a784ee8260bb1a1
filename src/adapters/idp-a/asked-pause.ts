import { retryAfterMs } from '../oauth/retry-after.js';

interface Headers {
  get(name: string): string | null;
}

/** How many milliseconds the provider asks to be left alone: `Retry-After`, else `X-RateLimit-Reset`, which Auth0 sends with a 429 as seconds since the epoch. */
export function askedPauseMs(headers: Headers, status: number, now: number): number | undefined {
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) return retryAfterMs(retryAfter, now);
  const reset = headers.get('x-ratelimit-reset')?.trim() ?? '';
  if (status !== 429 || !/^\d{1,12}$/.test(reset)) return undefined;
  const at = Number(reset) * 1000;
  return at > now ? at - now : undefined;
}
