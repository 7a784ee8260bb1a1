import type { HeaderFields, HttpResponse } from '../../ports/http.js';
import type { RouteFields } from '../credentials/site-fields.js';
import { UpstreamError } from '../errors.js';
import { bodyBytes } from '../upstream/body-bytes.js';
import { discard } from '../shared/body.js';
import { browserResponseHeaders, choosingNames, isStyleSheet } from '../upstream/header-policy.js';
import { PLATFORM, refuseRedirect } from '../upstream/platform-call.js';

const MAX_THEME = 1_048_576;
/** Browsers may keep it, and ask with its entity tag each time. */
const CACHE_CONTROL = 'private, no-cache';

/**
 * A theme as it goes to the browser, or the platform's refusal of it.
 *
 * @throws UpstreamError when the response is no style sheet, or one of more than 1 MiB.
 */
export async function themeResponse(
  response: HttpResponse,
  browser: HeaderFields,
  fields?: RouteFields,
): Promise<HttpResponse> {
  const { status } = response;
  const headers: Record<string, string | readonly string[]> = browserResponseHeaders(
    response.headers,
    fields?.response,
  );
  headers['cache-control'] = CACHE_CONTROL;
  const varied = choosingNames(fields?.request ?? []);
  if (varied.length > 0) headers['vary'] = [headers['vary'] ?? [], varied].flat(2).join(', ');
  if (status === 304 && browser['if-none-match'] !== undefined) {
    discard(response.body);
    const { 'content-type': _type, 'content-length': _length, 'content-security-policy': _policy, ...rest } = headers;
    return { status, headers: rest, body: null };
  }
  await refuseRedirect(response, PLATFORM);
  if (status >= 400)
    return { status, headers: browserResponseHeaders(response.headers, fields?.response), body: response.body };
  if (status !== 200 || !isStyleSheet(response.headers)) {
    discard(response.body);
    throw noStyleSheet('The platform sent something else than a style sheet.', String(status));
  }
  const body = await bodyBytes(response.body, MAX_THEME);
  if (body === undefined) throw noStyleSheet('The style sheet of the platform is too long, or broke off.', '200');
  return { status, headers: { ...headers, 'content-type': 'text/css; charset=utf-8' }, body };
}

function noStyleSheet(detail: string, status: string): UpstreamError {
  return new UpstreamError('upstream_invalid_response', { detail, log: `${detail} Status ${status}.` });
}
