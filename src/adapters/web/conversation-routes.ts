import {
  type ConversationProxy,
  isForwardedMethod,
  type SessionRequired,
} from '../../domain/conversations/conversation-proxy.js';
import type { HttpBody, HttpHandler } from '../../ports/http.js';
import { type Reader, route, type RouteMount } from './door.js';
import { PROBLEMS } from './error-response.js';
import { bodyConsumed, bodyError, checkedBody } from './request-body.js';

export interface ConversationRoutes extends RouteMount {
  readonly proxy: ConversationProxy;
  readonly auth: SessionRequired;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Routes below the conversations' mount point, for signed-in users only. */
export function conversationRoutes(mount: ConversationRoutes): HttpHandler {
  const { proxy, auth } = mount;
  return route(
    {
      name: 'conversation',
      methods: METHODS,
      accepts: isForwardedMethod,
      origin: 'own-pages',
      limit: 'none',
      read: streamed,
      errors: PROBLEMS,
    },
    mount,
    async ({ request, value: body }) => {
      const { method, path, query, headers, native, signal } = request;
      try {
        return await proxy.forward({ method, path, query, headers, body, native, signal }, auth);
      } catch (error) {
        // The browser caused the failure of the platform request.
        throw bodyError(body) ?? error;
      }
    },
  );
}

/** Passes the body on as it arrives, of any size. */
const streamed: Reader<HttpBody, undefined> = (request, site) => {
  if (request.bodyConsumed) throw bodyConsumed();
  return { value: checkedBody(request, { idleMs: site.requestIdleMs, totalMs: 0 }) };
};
