import { createNodeHandler } from 'agent-bff/node';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** A plain `node:http` server that handles everything outside the routes. */
export function nodeHttpSite(name: string): Framework {
  return {
    name,
    parsesJson: false,
    start: ({ toolkit, before, auth = nobody, cache }) => {
      const handler = createNodeHandler({ toolkit, surfaces: { auth, cache }, service: { auth } });
      return listeningSite((request, response) => {
        const { url = '' } = request;
        if (url.startsWith('/.well-known/agent-card.json')) request.url = `/api/a2a${url}`;
        handler(request, response, () => response.end('host'));
      }, before);
    },
  };
}
