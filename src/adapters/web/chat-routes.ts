import { type A2ACall, readRestCall, readRpcCall, type RestCall } from '../../domain/chat/call.js';
import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import { restPath } from '../../domain/chat/rest-paths.js';
import type { HttpHandler, HttpRequest } from '../../ports/http.js';
import { type ChatMount, rulesOf } from './chat-mount.js';
import { type Allowance, route } from './door.js';
import { errorContext, notFound, REST_ERRORS, RPC_ERRORS } from './error-response.js';
import { isAbsent, json } from './readers.js';

/** A chat mount, and the agent its calls go to. */
export interface MessageRoutes extends ChatMount {
  readonly forwarder: ChatForwarder;
}

export interface ChatRoutes extends MessageRoutes {
  /** Serves `/config`; if absent, it is 404. */
  readonly configRoute?: HttpHandler;
  /** Serves the agent card at its well-known paths. */
  readonly card?: HttpHandler;
  /** Serves the remaining paths, for clients of the HTTP+JSON binding; if absent, they are 404. */
  readonly httpJson?: HttpHandler;
}

/** The name since A2A v0.3 (RFC 8615; A2A v1.0 §8.2), and the previous one; clients resolve them relative to the address. */
const CARD = /^\/\.well-known\/agent(?:-card)?\.json$/;

/** Routes below the chat mount point: messages on the mount itself, with and without trailing slash, and the others by their path. */
export function chatRoutes(routes: ChatRoutes): HttpHandler {
  const { site, configRoute, card, httpJson } = routes;
  const messages = messageRoute(routes);
  return async (request) => {
    const { path } = request;
    if (path === '' || path === '/') return messages(request);
    const isConfig = path === '/config' || path === '/config/';
    const handler = isConfig ? configRoute : CARD.test(path) ? card : httpJson;
    return handler?.(request) ?? notFound(request, errorContext(site, 'chat'));
  };
}

function messageRoute(mount: ChatRoutes): HttpHandler {
  const { forwarder } = mount;
  return route<A2ACall>(
    {
      name: 'chat',
      methods: ['POST'],
      origin: 'own-pages',
      limit: ({ value }) => (value?.fault === undefined ? allowanceOf(value?.kind) : 'message'),
      read: json(({ bytes }, { query }) => {
        const value = readRpcCall(bytes, query, isStrict(mount));
        return { value, id: value.id };
      }),
      errors: RPC_ERRORS,
    },
    mount,
    async (admitted) => forwarder.forward(admitted.value, admitted.request, await rulesOf(mount, admitted)),
  );
}

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; all other paths are 404. */
export function httpJsonRoutes(mount: MessageRoutes): HttpHandler {
  const { forwarder } = mount;
  const body = json<A2ACall, RestCall>(
    (sent, request, { rest }) => ({ value: readRestCall(rest.path, request, sent, isStrict(mount)) }),
    ['application/json', 'application/a2a+json'],
  );
  return route<A2ACall, RestCall>(
    {
      name: 'chat',
      place: placeOf,
      methods: ({ rest }) => Object.keys(rest.path.methods),
      origin: 'own-pages-with-visitor',
      limit: ({ place }) => allowanceOf(place.kind),
      // Cancelling and subscribing need no body, so a missing one is not an error.
      read: (request, site, place) =>
        request.method !== 'POST' || isAbsent(request) ? { value: place } : body(request, site, place),
      errors: REST_ERRORS,
    },
    mount,
    async (admitted) => forwarder.forward(admitted.value, admitted.request, await rulesOf(mount, admitted)),
  );
}

/** The call without its body. */
function placeOf(request: HttpRequest): RestCall | undefined {
  const path = restPath(request.path);
  return path && readRestCall(path, request, undefined, false);
}

/** True if everything is judged that a policy or a rule of the site depends on. */
function isStrict({ policy, visitor, options }: ChatMount): boolean {
  return policy.isStrict || visitor !== undefined || options?.metadata !== undefined;
}

function allowanceOf(kind: A2ACall['kind'] | undefined): Allowance {
  return kind === 'reads' ? 'reading' : 'message';
}
