/** How many milliseconds a provider asks to be left alone: `Retry-After` (RFC 9110 §10.2.3), else `X-RateLimit-Reset`, which Auth0 sends with a 429 as seconds since the epoch. */
export function requestedBackoffMs(headers: Pick<Headers, 'get'>, status: number, now: number): number | undefined {
  const retryAfter = headers.get('retry-after')?.trim();
  if (retryAfter !== undefined) {
    return /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : until(Date.parse(retryAfter), now);
  }
  const reset = headers.get('x-ratelimit-reset')?.trim() ?? '';
  return status === 429 && /^\d{1,12}$/.test(reset) ? until(Number(reset) * 1000, now) : undefined;
}

function until(at: number, now: number): number | undefined {
  return at > now ? at - now : undefined;
}
