import type { CustomFetch } from 'openid-client';

/**
 * Wraps a `fetch` for the token endpoint so that members nobody here needs cannot spoil an answer:
 * openid-client throws a good token away over an odd `expires_in` or an `id_token` it cannot validate.
 */
export function lenientFetch(fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (response.status !== 200) return response;
    const text = await response.text();
    const headers = { 'content-type': response.headers.get('content-type') ?? '' };
    return new Response(withoutSpoilers(text), { status: 200, headers });
  };
}

function withoutSpoilers(text: string): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return text;
  const {
    id_token: _idToken,
    refresh_token: _refreshToken,
    scope: _scope,
    expires_in: expiresIn,
    ...rest
  } = answer as Record<string, unknown>;
  const seconds = typeof expiresIn === 'string' && expiresIn.trim() !== '' ? Number(expiresIn) : expiresIn;
  const known = typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0;
  return JSON.stringify(known ? { ...rest, expires_in: seconds } : rest);
}
