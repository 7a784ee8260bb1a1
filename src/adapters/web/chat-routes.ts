import { type A2ACall, readRpcCall } from '../../domain/chat/call.js';
import type { HttpHandler } from '../../ports/http.js';
import { allowanceOf, byRules, isStrict, type MessageMount } from './chat-mount.js';
import { route } from './door.js';
import { errorContext, notFound, RPC_ERRORS } from './error-response.js';
import { json } from './readers.js';

export interface ChatRoutes extends MessageMount {
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
  return (request) => {
    const { path } = request;
    if (path === '' || path === '/') return messages(request);
    const isConfig = path === '/config' || path === '/config/';
    const handler = isConfig ? configRoute : CARD.test(path) ? card : httpJson;
    return handler?.(request) ?? Promise.resolve(notFound(request, errorContext(site, 'chat')));
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
    (admitted) => byRules(mount, admitted, (rules) => forwarder.forward(admitted.value, admitted.request, rules)),
  );
}
