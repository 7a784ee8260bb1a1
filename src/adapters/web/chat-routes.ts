import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
import type { MessageBody } from '../../domain/chat/message-edits.js';
import { readRpcMessage } from '../../domain/chat/chat-message.js';
import { canonical } from '../../domain/chat/method-policy.js';
import type { HttpHandler } from '../../ports/http.js';
import { allowanceOf, type ChatMount, entranceOf, visited } from './chat-mount.js';
import { route } from './door.js';
import { errorContext, notFound, RPC_ERRORS } from './error-response.js';
import { json } from './readers.js';

export interface ChatRoutes extends ChatMount {
  readonly forwarder: ChatForwarder;
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
  const { auth, policy, forwarder, options: { reading } = {} } = mount;
  return route<MessageBody>(
    {
      name: 'chat',
      methods: ['POST'],
      origin: 'own-pages',
      limit: ({ value }) => (value?.message.fault === undefined ? allowanceOf(value?.message.method) : 'message'),
      read: json(({ bytes }) => {
        const message = readRpcMessage(bytes, reading?.scrutiny ?? policy.scrutiny, reading?.isPlaced);
        return { value: { bytes, message }, id: message.id };
      }),
      errors: RPC_ERRORS,
    },
    mount,
    async (admitted) => {
      const { bytes: body, message } = admitted.value;
      const found = await visited(mount, admitted, { method: message.method, body: admitted.value });
      const response = await forwarder.forward({ head: admitted.request, body, message }, auth, policy, found);
      const isCard = canonical(message.method) === 'GetExtendedAgentCard';
      return isCard ? forwarder.toExtendedCard(response, entranceOf(mount, admitted.request)) : response;
    },
  );
}
