import type { HttpJsonBinding } from '../../domain/chat/http-json-binding.js';
import { httpJsonCall } from '../../domain/chat/http-json-call.js';
import type { MethodPolicy } from '../../domain/chat/method-policy.js';
import type { CredentialAuth } from '../../domain/credentials/credential-broker.js';
import { mayHoldSession } from '../../domain/credentials/route-auth.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { methodNotAllowed, notFound, restErrorResponse, restErrorText } from './error-response.js';
import { checkOrigin } from './origin-check.js';
import { chatAddress } from './public-address.js';
import { type BodyLimits, type JsonBody, readJsonBody } from './read-body.js';
import { errorContext, type SiteSettings } from './site-settings.js';
import { checkVisitor } from './visitor-limit.js';
import { watchedStream } from './watched-stream.js';

/** What the routes of the HTTP+JSON binding need. */
export interface HttpJsonRoutes {
  readonly site: SiteSettings;
  readonly binding: HttpJsonBinding;
  readonly auth: CredentialAuth;
  readonly policy: MethodPolicy;
  /** Protocol bindings of the chat routes. */
  readonly bindings: readonly string[];
  /** The configured public address; empty when there is none. */
  readonly publicUrl: string;
}

const ROUTE = 'chat';
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; everything else there is 404. */
export function httpJsonRoutes(routes: HttpJsonRoutes): HttpHandler {
  return async (request) => {
    const { site, auth, policy, bindings } = routes;
    const startedAt = site.now();
    const context = errorContext(site, ROUTE);
    const call = httpJsonCall(request.path);
    if (call === undefined) return notFound(context);
    if (!Object.hasOwn(call.methods, request.method)) {
      return methodNotAllowed(Object.keys(call.methods).join(', '), context);
    }
    let body: JsonBody | undefined;
    let response: HttpResponse;
    try {
      checkOrigin(request, site.origins, mayHoldSession(auth));
      if (auth.kind !== 'session') await checkVisitor(request, site);
      const { url } = chatAddress(request.publicUrl, routes.publicUrl);
      body = await bodyOf(request, site);
      response = await routes.binding.forward({ head: request, call, body }, auth, policy, { url, policy, bindings });
    } catch (error) {
      response = restErrorResponse(error, context);
    } finally {
      body?.release();
    }
    site.telemetry.emit({
      type: 'request',
      requestId: context.requestId,
      route: ROUTE,
      method: request.method,
      status: response.status,
      durationMs: site.now() - startedAt,
    });
    return watchedStream(response, {
      site,
      route: ROUTE,
      requestId: context.requestId,
      signal: request.signal,
      errorText: (error) => restErrorText(error, context.requestId),
    });
  };
}

/** Cancelling and subscribing need no body, so its absence is no fault of the request. */
async function bodyOf(request: HttpRequest, limits: BodyLimits): Promise<JsonBody | undefined> {
  if (request.method !== 'POST' || (request.body === null && !request.bodyConsumed)) return undefined;
  return readJsonBody(request, limits, JSON_TYPES);
}
