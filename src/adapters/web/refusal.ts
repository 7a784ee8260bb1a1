import type { HttpRequest, HttpResponse } from '../../ports/http.js';
import { type ErrorContext, problemResponse, rpcErrorResponse } from './error-response.js';

/** What a request gets that is not let in to a route: before anything of it is read, in the shape its client reads. */
export function refusal(cause: unknown, { method, path }: HttpRequest, context: ErrorContext): HttpResponse {
  const isChat = context.route === 'chat' && method === 'POST' && (path === '' || path === '/');
  return isChat ? rpcErrorResponse(cause, 'null', context) : problemResponse(cause, context);
}
