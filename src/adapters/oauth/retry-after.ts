/** How many milliseconds a provider asks to be left alone: `Retry-After` in seconds or as a date (RFC 9110 §10.2.3). */
export function retryAfterMs(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return at > now ? at - now : undefined;
}
