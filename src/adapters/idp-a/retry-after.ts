interface Headers {
  get(name: string): string | null;
}

/**
 * How many milliseconds a provider asks to be left alone: `Retry-After` in seconds or as a date (RFC 9110 §10.2.3),
 * else `X-RateLimit-Reset`, which Auth0 sends with a 429 as seconds since the epoch.
 */
export function retryAfterMs(headers: Headers, status: number, now: number): number | undefined {
  const retryAfter = headers.get('retry-after')?.trim();
  if (retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const reset = headers.get('x-ratelimit-reset')?.trim();
  const at =
    retryAfter !== undefined
      ? Date.parse(retryAfter)
      : status === 429 && reset !== undefined && /^\d{1,12}$/.test(reset)
        ? Number(reset) * 1000
        : Number.NaN;
  return at > now ? at - now : undefined;
}
