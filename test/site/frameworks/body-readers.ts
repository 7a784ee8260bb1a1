import type { AddressInfo } from 'node:net';
import { bodyParser } from '@koa/bodyparser';
import fastify from 'fastify';
import { H3 } from 'h3';
import { toNodeHandler } from 'h3/node';
import Koa, { type Middleware } from 'koa';
import koaBodyParser from 'koa-bodyparser';
import { plainReading } from '../../support/other-readers/reading.js';
import type { ReadingServer } from '../../support/other-readers/reading-server.js';
import { listeningSite } from './listening-site.js';

/** Frameworks with their own JSON parser. */
export const frameworkReaders: readonly ReadingServer[] = [
  koaReader('koa-bodyparser-4', koaBodyParser({ jsonLimit: '4mb' })),
  koaReader('koa-bodyparser-4-not-strict', koaBodyParser({ jsonLimit: '4mb', strict: false })),
  koaReader('@koa/bodyparser-6', bodyParser({ jsonLimit: '4mb' })),
  {
    reader: 'fastify-5',
    start: async (report) => {
      const app = fastify({ bodyLimit: 4_194_304, forceCloseConnections: true });
      app.post('/', (request) => {
        report(plainReading(request.body));
        return '';
      });
      await app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${String(port)}`, close: () => app.close() };
    },
  },
  {
    // Every Web framework, such as Next and Hono, uses this `Request.json()`.
    reader: 'h3-2',
    start: (report) => {
      const app = new H3({ silent: true });
      app.post('/**', async ({ req }) => {
        report(plainReading(await req.json()));
        return '';
      });
      return listeningSite(toNodeHandler(app));
    },
  },
];

function koaReader(reader: string, parser: Middleware): ReadingServer {
  return {
    reader,
    start: (report) => {
      const app = new Koa();
      app.silent = true;
      app.use(parser);
      app.use((context) => {
        report(plainReading((context.request as { body?: unknown }).body));
        context.body = '';
      });
      return listeningSite(app.callback());
    },
  };
}
