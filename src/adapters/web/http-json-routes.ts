import { type A2ACall, readRestCall, type RestCall } from '../../domain/chat/call.js';
import { restPath } from '../../domain/chat/rest-paths.js';
import type { HttpHandler, HttpRequest } from '../../ports/http.js';
import { allowanceOf, byRules, isStrict, type MessageMount } from './chat-mount.js';
import { route } from './door.js';
import { REST_ERRORS } from './error-response.js';
import { isAbsent, json } from './readers.js';

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; all other paths are 404. */
export function httpJsonRoutes(mount: MessageMount): HttpHandler {
  const { forwarder } = mount;
  const body = json<A2ACall, RestCall>(
    (sent, request, { rest }) => ({ value: readRestCall(rest.path, request, sent, isStrict(mount)) }),
    ['application/json', 'application/a2a+json'],
  );
  return route<A2ACall, RestCall>(
    {
      name: 'chat',
      target: targetOf,
      methods: ({ rest }) => Object.keys(rest.path.methods),
      origin: 'own-pages-with-visitor',
      limit: ({ target }) => allowanceOf(target.kind),
      // Cancelling and subscribing need no body, so a missing one is not an error.
      read: (request, site, target) =>
        request.method !== 'POST' || isAbsent(request) ? { value: target } : body(request, site, target),
      errors: REST_ERRORS,
    },
    mount,
    (admitted) => byRules(mount, admitted, (rules) => forwarder.forward(admitted.value, admitted.request, rules)),
  );
}

/** The call without its body. */
function targetOf(request: HttpRequest): RestCall | undefined {
  const path = restPath(request.path);
  return path && readRestCall(path, request, undefined, false);
}
