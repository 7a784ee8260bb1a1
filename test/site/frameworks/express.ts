import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import compression from 'compression';
import type { RequestHandler } from 'express';
import type express from 'express';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

/** Middleware in front of the routes. */
export interface ExpressHost {
  /** `rawBody`: the parser also keeps the raw bytes. */
  readonly json?: boolean | 'rawBody';
  readonly compression?: boolean;
  /** Runs before the routes. */
  readonly use?: RequestHandler;
}

/** Express 4 or 5 with its three routers. The router of the records is mounted before the parser, because their bodies stream. */
export function expressSite(name: string, framework: typeof express, host: ExpressHost = {}): Framework {
  return {
    name,
    parsesJson: host.json !== undefined && host.json !== false,
    start: ({ toolkit, before, auth = nobody, cache }) => {
      const app = framework();
      if (before !== undefined) app.use(before as RequestHandler);
      if (host.compression === true) app.use(compression());
      if (host.use !== undefined) app.use(host.use);
      app.use('/api/service', createServiceProxyRouter(framework, { toolkit, auth }));
      if (host.json === true) app.use(framework.json({ limit: '2mb' }));
      if (host.json === 'rawBody') {
        const verify = (request: object, _response: unknown, rawBody: Buffer): void => {
          Object.assign(request, { rawBody });
        };
        app.use(framework.json({ limit: '2mb', verify }));
      }
      app.all('/.well-known/agent-card.json', (request, _response, next) => {
        request.url = `/api/a2a${request.url}`;
        next();
      });
      app.use('/api/a2a', createA2ARouter(framework, { toolkit }));
      app.use('/api/service-surfaces', createServiceSurfaceRouter(framework, { toolkit, auth, cache }));
      app.use((_request, response) => {
        response.send('host');
      });
      return listeningSite(app);
    },
  };
}
