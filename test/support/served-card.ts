import express, { type RequestHandler } from 'express';
import { createAgentCardRouter } from '../../examples/platform/agent-card.js';

/** Serves a card for the chat of the same site where clients of every generation look for it. */
export function servedCard(): RequestHandler {
  return (request, response, next) => {
    if (!request.url.startsWith('/.well-known/')) {
      next();
      return;
    }
    const cards = createAgentCardRouter(`http://${String(request.headers.host)}/api/a2a`);
    const app = express();
    for (const name of ['agent-card.json', 'agent.json']) app.use(`/.well-known/${name}`, cards);
    app(request, response);
  };
}
