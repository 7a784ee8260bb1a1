import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { constants, gunzipSync } from 'node:zlib';
import * as expressEntry from 'agent-bff/express';
import compression from 'compression';
import express from 'express';
import express4 from 'express4';
import request from 'supertest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expressRouter } from '../../src/adapters/express/express-router.js';
import type { HttpHandler, HttpRequest } from '../../src/ports/http.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { visit } from '../support/visitor.js';

const NO_EXPRESS = 'Pass express itself as the first argument.';

const routerOf = (framework: typeof express, handler: HttpHandler) =>
  expressRouter(framework, () => [{ mount: '', handler }]);

it.each([
  ['nothing', undefined],
  ['an application', express()],
  ['a router', express.Router()],
])('the router rejects %s in place of express', (_given, framework) => {
  expect(() => routerOf(framework as never, () => Promise.reject(new Error('not called')))).toThrow(NO_EXPRESS);
});

it.each(Object.entries<(framework: never, options: never) => unknown>({ ...expressEntry }))(
  '%s names the fix when used as middleware or with swapped arguments',
  (_name, make) => {
    const message = new IncomingMessage(new Socket());
    expect(() => make(message as never, new ServerResponse(message) as never)).toThrow(NO_EXPRESS);
    expect(() => make({ toolkit: 'none' } as never, express as never)).toThrow(NO_EXPRESS);
  },
);

describe.each([
  ['Express 5', express],
  ['Express 4', express4],
])('the router for %s', (_name, framework) => {
  /** Serves a handler that returns what it received, mounted two routers deep. */
  function shop(configure: (app: express.Express) => void = () => undefined) {
    const seen: HttpRequest[] = [];
    const app = framework();
    configure(app);
    const outer = framework.Router();
    outer.use(
      '/a2a',
      routerOf(framework, (received) => {
        seen.push(received);
        return Promise.resolve({ status: 200, headers: { 'content-type': 'text/plain' }, body: received.publicUrl });
      }),
    );
    app.use('/shop/:name/api', outer);
    return { app, seen };
  }

  it('passes the path below its mount, also below nested routers', async () => {
    const { app, seen } = shop();
    await request(app).post('/shop/one%20two/api/a2a?x=1');
    await request(app).post('/shop/one/api/a2a/sub%2Fpath?x=1');
    await request(app).post('/shop/one/api/a2a//sub?x=1');
    expect(seen.map(({ path, query }) => [path, query])).toEqual([
      ['/', '?x=1'],
      ['/sub%2Fpath', '?x=1'],
      ['//sub', '?x=1'],
    ]);
  });

  it('passes each request to the handler mounted at its path', async () => {
    const telling = (name: string): HttpHandler => {
      const headers = { 'content-type': 'text/plain' };
      return ({ path }) => Promise.resolve({ status: 200, headers, body: name + path });
    };
    const routes = [
      { mount: '/a2a', handler: telling('chat') },
      { mount: '', handler: telling('others') },
    ];
    const app = framework().use(expressRouter(framework, () => routes));
    const bodies = ['/a2a/config', '/a2abc'].map(async (path) => (await request(app).get(path)).text);
    expect(await Promise.all(bodies)).toEqual(['chat/config', 'others/a2abc']);
  });

  it.each([
    ['the browser used', undefined, 'http://site.example:8080/shop/one/api/a2a'],
    [
      'in the forwarded fields where the application trusts its proxy',
      true,
      'https://public.example:8443/shop/one/api/a2a',
    ],
  ])('uses the address %s', async (_case, trust, address) => {
    const { app } = shop((site) => trust !== undefined && site.set('trust proxy', trust));
    const response = await request(app).post('/shop/one/api/a2a').set({
      host: 'site.example:8080',
      'x-forwarded-host': 'public.example:8443 , inner.example',
      'x-forwarded-proto': 'https',
    });
    expect(response.text).toBe(address);
  });

  it('flushes each chunk through a compressing host', async () => {
    let send: (text: string) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        send = (text) => {
          controller.enqueue(Buffer.from(text));
        };
      },
    });
    const app = framework();
    app.use(compression({ threshold: 0 }));
    app.use(
      routerOf(framework, () => Promise.resolve({ status: 200, headers: { 'content-type': 'text/plain' }, body })),
    );
    const site = await listeningSite(app);
    onTestFinished(() => site.close());
    const reply = await visit(site.url, { headers: { 'accept-encoding': 'gzip' } });
    expect(reply.headers['content-encoding']).toBe('gzip');
    const decoded = (bytes: Buffer): string => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    for (const [chunk, soFar] of [
      ['one', 'one'],
      ['two', 'onetwo'],
      ['three', 'onetwothree'],
    ] as const) {
      send(chunk);
      await reply.untilSeen((bytes) => bytes.length > 0 && decoded(bytes) === soFar);
    }
  });

  it('passes an exception to the error handler of the application', async () => {
    const app = framework();
    app.use(routerOf(framework, () => Promise.reject(new Error('a bug'))));
    const answer: express.ErrorRequestHandler = (error: Error, _request, response, _next) => {
      response.status(500).send(error.message);
    };
    app.use(answer);
    const response = await request(app).get('/');
    expect(response.text).toBe('a bug');
  });
});
