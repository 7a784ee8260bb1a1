import { RequestError } from '../../domain/shared/errors.js';
import type { HttpRequest } from '../../ports/http.js';
import type { SiteSettings } from './serve-route.js';

/**
 * Counts one message of an anonymous visitor, where the site limits them (another one's bill is paid per message).
 *
 * @throws RequestError (code `rate_limited`) with the time to wait.
 */
export async function checkVisitor(request: Pick<HttpRequest, 'native'>, site: SiteSettings): Promise<void> {
  if (site.chatLimit === undefined) return;
  const verdict = await site.chatLimit.admit(request.native.request);
  if (verdict.kind === 'admitted') return;
  if (verdict.kind === 'unknown') {
    site.telemetry.emit({ type: 'warning', code: 'limit_unknown', detail: verdict.detail });
    return;
  }
  const { retryAfterMs } = verdict;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  throw new RequestError('rate_limited', {
    detail: 'Too many messages in a short time.',
    hint: `Try again in ${String(seconds)} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryable: true,
    retryAfterMs: seconds * 1000,
  });
}
