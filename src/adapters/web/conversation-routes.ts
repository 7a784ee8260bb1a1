import {
  type ConversationProxy,
  isForwardedMethod,
  type SessionRequired,
} from '../../domain/conversations/conversation-proxy.js';
import type { HttpHandler } from '../../ports/http.js';
import { methodNotAllowed } from './error-response.js';
import { checkOrigin } from './admission.js';
import { serveRoute, type SiteSettings } from './serve-route.js';
import { bodyConsumed, bodyError, checkedBody } from './request-body.js';

export interface ConversationRoutes {
  readonly site: SiteSettings;
  readonly proxy: ConversationProxy;
  readonly auth: SessionRequired;
}

const ROUTE = 'conversation';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Routes below the conversations' mount point, for signed-in users only. */
export function conversationRoutes({ site, proxy, auth }: ConversationRoutes): HttpHandler {
  return (request) =>
    serveRoute({ site, route: ROUTE }, request, async (context) => {
      if (!isForwardedMethod(request.method)) return methodNotAllowed(METHODS, context);
      checkOrigin(request, site.origins, true);
      if (request.bodyConsumed) throw bodyConsumed();
      const { method, path, query, headers, native, signal } = request;
      const body = checkedBody(request, { idleMs: site.requestIdleMs, totalMs: 0 });
      try {
        return await proxy.forward({ method, path, query, headers, body, native, signal }, auth);
      } catch (error) {
        // The browser caused the failure of the platform request.
        throw bodyError(body) ?? error;
      }
    });
}
