import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import { type ErrorContext, problemResponse } from './error-response.js';
import { errorContext, type SiteSettings } from './site-settings.js';

/** Answers one request of a route whose errors are problem documents, and tells operators of it. */
export async function answerRoute(
  site: SiteSettings,
  route: string,
  request: Pick<HttpRequest, 'method'>,
  answer: (context: ErrorContext) => Promise<HttpResponse> | HttpResponse,
): Promise<HttpResponse> {
  const startedAt = site.now();
  const context = errorContext(site, route);
  let response: HttpResponse;
  try {
    response = await answer(context);
  } catch (error) {
    response = problemResponse(error, context);
  }
  site.telemetry.emit({
    type: 'request',
    requestId: context.requestId,
    route,
    method: request.method,
    status: response.status,
    durationMs: site.now() - startedAt,
  });
  return response;
}
