import type { ChatConfig } from '../../domain/chat/chat-config.js';
import { mayHoldSession } from '../../domain/credentials/route-auth.js';
import { choosingNames } from '../../domain/shared/header-policy.js';
import type { HttpHandler } from '../../ports/http.js';
import { noticePage } from './admission.js';
import { type ChatMount, entranceOf } from './chat-mount.js';
import { route } from './door.js';
import { PROBLEMS } from './error-response.js';
import { jsonResponse } from './json-response.js';
import { protocolVersion } from './readers.js';

export interface ConfigRoute extends ChatMount {
  readonly chatConfig: ChatConfig;
  /** A short digest of a text, the same in every process. */
  readonly hash: (text: string) => string;
}

/**
 * Reads the chat configuration record (`GET /config`), or the rewritten agent card alone, for clients that fetch it from
 * its well-known path: for the caller and the protocol version of the request.
 */
export function configRoute(mount: ConfigRoute, what: 'record' | 'agentCard'): HttpHandler {
  const { chatConfig, auth, hash } = mount;
  const varied = choosingNames(auth.fields?.request ?? []);
  const fields = {
    // A response for the visitor's own session, or one that varies by a field that other proxies may add, is always
    // revalidated; others may be cached for a minute.
    'cache-control':
      mayHoldSession(auth) || varied.length > 0 ? 'private, max-age=0, must-revalidate' : 'private, max-age=60',
    vary: ['A2A-Version', 'Cookie', ...varied].join(', '),
  };
  const respond = route(
    {
      name: 'config',
      methods: ['GET', 'HEAD'],
      origin: 'own-pages-with-session',
      // Cached results are free; requests to the agent must be limited, because anyone can cause them.
      limit: 'within',
      read: protocolVersion,
      errors: PROBLEMS,
    },
    mount,
    async (admitted) => {
      const { request, value } = admitted;
      const count = auth.kind === 'session' ? undefined : () => admitted.count('message');
      const record = await chatConfig[what](value, request, auth, entranceOf(mount, request), count);
      return jsonResponse(record, request, hash, fields);
    },
  );
  const { origins, telemetry } = mount.site;
  return (request) => {
    // The route refuses other requests of such a page itself; it never accepts a preflight.
    if (request.method === 'OPTIONS' || !mayHoldSession(auth)) noticePage(request, origins, telemetry);
    return respond(request);
  };
}
