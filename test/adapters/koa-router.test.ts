import * as koaEntry from 'agent-bff/koa';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { koaRouter } from '../../src/adapters/koa/koa-router.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../src/ports/http.js';
import {
  bodyParser,
  type Context,
  Koa,
  legacyBodyParser,
  type Middleware,
  mount,
  Router,
  routerModule,
} from '../site/frameworks/koa-packages.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { MESSAGE, visit } from '../support/visitor.js';

const OK: HttpResponse = { status: 200, headers: {}, body: 'ok' };

/** Serves an application and records its errors. */
async function serve(app: Koa): Promise<{ url: string; errors: Error[] }> {
  const errors: Error[] = [];
  app.on('error', (error: Error) => errors.push(error));
  const site = await listeningSite(app.callback());
  onTestFinished(() => site.close());
  return { url: site.url, errors };
}

/** The routes at `/api/a2a`, behind other middleware. */
function appWith(handler: HttpHandler, ...before: Middleware[]): Koa {
  const app = new Koa();
  for (const middleware of before) app.use(middleware);
  app.use(
    koaRouter(Router, () => [{ mount: '', handler }])
      .prefix('/api/a2a')
      .routes(),
  );
  return app;
}

const answering = (answer: Partial<HttpResponse>): HttpHandler => {
  return () => Promise.resolve({ ...OK, ...answer });
};

/** A body that the test controls. */
class HeldBody implements AsyncIterableIterator<Uint8Array> {
  readonly givenUp: Promise<void>;
  #resolve: (step: IteratorResult<Uint8Array>) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #giveUp: () => void = () => undefined;

  constructor() {
    this.givenUp = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#giveUp();
    return Promise.resolve({ done: true, value: undefined });
  }

  send(text: string): void {
    this.#resolve({ done: false, value: Buffer.from(text) });
  }

  fail(): void {
    this.#reject(Object.assign(new Error('the platform broke off'), { code: 'ECONNRESET' }));
  }
}

describe('the router for Koa', () => {
  it.each<[string, (router: Router) => Middleware]>([
    ['by its own prefix', (router) => router.prefix('/shop/:name/api/a2a').routes() as Middleware],
    ['in another router', (router) => new Router().use('/shop/:name/api/a2a', router.routes()).routes() as Middleware],
    ['by koa-mount', (router) => mount('/shop/one%20two', mount('/api/a2a', router.routes() as Middleware))],
  ])('passes the raw path below its mount to the handler when mounted %s', async (_how, mounted) => {
    const seen: HttpRequest[] = [];
    const handler: HttpHandler = (request) => {
      seen.push(request);
      return Promise.resolve({ ...OK, body: request.publicUrl });
    };
    const router = koaRouter(Router, () => [{ mount: '', handler }]);
    const { url } = await serve(new Koa().use(mounted(router)));
    const base = '/shop/one%20two/api/a2a';
    const headers = { host: 'site.example:8080' };
    for (const below of ['', '?', '/', '/?x=1', '/sub%2Fpath?x=%20', '/sub//path/', '/a2a/../x']) {
      const reply = await visit(url, { path: base + below, headers });
      expect(await reply.text()).toBe(`http://site.example:8080${base}`);
    }
    expect(seen.map(({ path, query }) => path + query.replace(/^\?$/, ''))).toEqual([
      '',
      '',
      '',
      '?x=1',
      '/sub%2Fpath?x=%20',
      '/sub//path/',
      '/a2a/../x',
    ]);
  });

  it('accepts the module of @koa/router as well as its Router', async () => {
    const router = koaRouter(routerModule, () => [{ mount: '', handler: answering(OK) }]);
    expectTypeOf(router).toEqualTypeOf<Router>();
    const { url } = await serve(new Koa().use(router.prefix('/api/a2a').routes() as Middleware));
    expect(await (await visit(url)).text()).toBe('ok');
  });

  it('reads forwarded fields only when the application trusts its proxy', async () => {
    const tell: HttpHandler = ({ publicUrl }) => Promise.resolve({ ...OK, body: publicUrl });
    const headers = { host: 'inner:3000', 'x-forwarded-host': 'site.example:8443', 'x-forwarded-proto': 'https' };
    for (const [proxy, expected] of [
      [false, 'http://inner:3000/api/a2a'],
      [true, 'https://site.example:8443/api/a2a'],
    ] as const) {
      const app = appWith(tell);
      app.proxy = proxy;
      const { url } = await serve(app);
      expect(await (await visit(url, { headers })).text()).toBe(expected);
    }
  });

  it('passes Koa’s context and Node’s response to session libraries', async () => {
    let native: HttpRequest['native'] | undefined;
    let context: Context | undefined;
    const keep: Middleware = (current, next) => {
      context = current;
      return next();
    };
    const { url } = await serve(
      appWith((request) => {
        ({ native } = request);
        return Promise.resolve(OK);
      }, keep),
    );
    await (await visit(url)).text();
    expect(native?.request).toBe(context);
    expect(native?.response).toBe(context?.res);
  });
});

describe('the middleware around the routes', () => {
  it('sees the response and can add a field before the body begins', async () => {
    const body = new HeldBody();
    const statuses: number[] = [];
    const around: Middleware = async (context, next) => {
      await next();
      await Promise.resolve();
      statuses.push(context.status);
      context.set('server-timing', 'routes;dur=1');
    };
    const { url } = await serve(appWith(answering({ status: 202, body }), around));
    const reply = await visit(url);
    expect(reply.status).toBe(202);
    expect(reply.headers['server-timing']).toBe('routes;dur=1');
    expect(statuses).toEqual([202]);
    body.send('one');
    await reply.until('one');
    reply.leave();
  });

  it('can replace the body, and the platform’s body is cancelled', async () => {
    const body = new HeldBody();
    const around: Middleware = async (context, next) => {
      await next();
      context.body = 'another';
    };
    const { url } = await serve(appWith(answering({ body }), around));
    expect(await (await visit(url)).text()).toBe('another');
    await body.givenUp;
  });

  it('can set cookies in addition to those of the response, each in its own field', async () => {
    const cookies = ['b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'c=3'];
    const around: Middleware = (context, next) => {
      context.cookies.set('a', '1', { path: null as never, httpOnly: false });
      return next();
    };
    const { url } = await serve(appWith(answering({ headers: { 'set-cookie': cookies } }), around));
    expect((await visit(url)).headers['set-cookie']).toEqual(['a=1', ...cookies]);
  });

  it('cannot change the fields of the response beforehand, and adds to "Vary"', async () => {
    const around: Middleware = (context, next) => {
      context.set({ 'cache-control': 'max-age=60', vary: 'accept' });
      return next();
    };
    const fields = { 'cache-control': 'no-store', vary: ['origin', 'cookie'], gone: undefined };
    const { url } = await serve(appWith(answering({ headers: fields }), around));
    const { headers } = await visit(url);
    expect([headers['cache-control'], headers.vary, headers['gone']]).toEqual([
      'no-store',
      'accept, origin, cookie',
      undefined,
    ]);
  });

  it('receives the error of a handler', async () => {
    const { url, errors } = await serve(appWith(() => Promise.reject(new Error('a bug'))));
    expect((await visit(url)).status).toBe(500);
    expect(errors.map(({ message }) => message)).toEqual(['a bug']);
  });
});

describe('a response', () => {
  it.each([202, 304])('without a body keeps its status %i', async (status) => {
    const around: Middleware = (context, next) => {
      context.type = 'json'; // With this type, Koa turns a missing body into a JSON `null`.
      return next();
    };
    const { url } = await serve(appWith(answering({ status, body: null, headers: { allow: 'POST' } }), around));
    const reply = await visit(url);
    expect(reply.status).toBe(status);
    expect(reply.headers.allow).toBe('POST');
    expect(await reply.text()).toBe('');
  });

  it.each<[string, HttpResponse['body']]>([
    ['text', '<grüezi>'],
    ['bytes', new TextEncoder().encode('x<grüezi>').subarray(1)],
  ])('with a body of %s has its length and not Koa’s default content type', async (_what, body) => {
    const { url } = await serve(appWith(answering({ body })));
    const reply = await visit(url);
    expect(reply.headers).not.toHaveProperty('content-type');
    expect(reply.headers['content-length']).toBe('9');
    expect(await reply.text()).toBe('<grüezi>');
  });
});

describe('a response with a streaming body', () => {
  it('to a HEAD has no body, and the stream is cancelled', async () => {
    const body = new HeldBody();
    const { url } = await serve(appWith(answering({ body, headers: { 'content-type': 'text/plain' } })));
    const reply = await visit(url, { method: 'HEAD' });
    expect(reply.headers['content-type']).toBe('text/plain');
    await body.givenUp;
  });

  it('that fails breaks the connection, and the application receives the error', async () => {
    const body = new HeldBody();
    const { url, errors } = await serve(appWith(answering({ body })));
    const reply = await visit(url);
    body.send('one');
    await reply.until('one');
    body.fail();
    expect(await reply.ending()).toMatchObject({ clean: false });
    await expect.poll(() => errors.map(({ message }) => message)).toEqual(['the platform broke off']);
  });
});

describe('a body that a parser has consumed', () => {
  const spaced = MESSAGE.replace(':', ' : ');

  it.each<[string, Middleware]>([
    ['@koa/bodyparser', bodyParser() as Middleware],
    ['koa-bodyparser', legacyBodyParser() as Middleware],
  ])('arrives unchanged from %s', async (_name, parser) => {
    const seen: HttpRequest[] = [];
    const { url } = await serve(
      appWith((request) => {
        seen.push(request);
        return Promise.resolve(OK);
      }, parser),
    );
    await (await visit(url, { body: spaced, headers: { 'content-type': 'application/json; charset=utf-8' } })).text();
    expect(seen).toMatchObject([{ body: spaced, bodyConsumed: false }]);
    expect(seen[0]?.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each<[string, (context: Context) => object, object]>([
    ['Koa’s parser as a value', ({ request }) => request, { body: { a: 1 } }],
    ['Koa’s parser as text', ({ request }) => request, { rawBody: '{"a":1}' }],
    ['a host in front of Koa as a value', ({ req }) => req, { body: { a: 1 } }],
  ])('arrives from %s', async (_from, place, result) => {
    const seen: HttpRequest[] = [];
    const read: Middleware = async (context, next) => {
      for await (const chunk of context.req) void chunk;
      Object.assign(place(context), result);
      return next();
    };
    const { url } = await serve(
      appWith((request) => {
        seen.push(request);
        return Promise.resolve(OK);
      }, read),
    );
    await (await visit(url)).text();
    expect(seen).toMatchObject([{ body: '{"a":1}', bodyConsumed: false }]);
  });
});

describe('an error that Koa reports to the context', () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  const [failure, stall] = [coded('ECONNRESET'), new Error('the browser accepted no data')];

  it.each<[string, boolean, Error, object]>([
    ['is left out when the browser left: EPIPE', false, coded('EPIPE'), {}],
    ['is left out when the browser left: ECONNRESET', false, coded('ECONNRESET'), { body: { failure } }],
    ['is left out when the browser left: premature close', false, coded('ERR_STREAM_PREMATURE_CLOSE'), {}],
    ['is reported when the connection is open', true, coded('EPIPE'), { destroyed: false }],
    ['is reported when it has another reason', true, coded('ENOENT'), {}],
    ['is reported when the platform broke the body', true, failure, { body: { failure } }],
    ['is left out when it disconnected a stalled browser', false, stall, { body: { stall } }],
    ['is reported when another one did', true, coded('EPIPE'), { body: { stall } }],
  ])('%s', async (_title, isReported, error, { destroyed = true, body }: { destroyed?: boolean; body?: object }) => {
    const errors: unknown[] = [];
    const context = {
      // Nothing is sent on a connection that has ended.
      req: { httpVersionMajor: 1, socket: { destroyed, writableEnded: true, once: () => undefined } },
      body,
      respond: true,
      onerror: (reported: unknown) => void errors.push(reported),
    };
    let serveContext: (of: typeof context) => Promise<void> = () => Promise.resolve();
    class OneRoute {
      all(_path: string, middleware: typeof serveContext): void {
        serveContext = middleware;
      }
    }
    koaRouter(OneRoute as never, () => [{ mount: '', handler: answering(OK) }]);
    await serveContext(context);
    expect(context.respond).toBe(false);
    context.onerror(error);
    expect(errors).toEqual(isReported ? [error] : []);
  });
});

it('an application passed as the router causes an error that names the fix', () => {
  expect(() => koaRouter(new Koa() as never, () => [])).toThrow('Pass Router itself as the first argument.');
  // Callable like the Router class, but it returns a plain function.
  function Express(): unknown {
    return () => undefined;
  }
  expect(() => koaRouter(Express as never, () => [])).toThrow('Pass Router itself as the first argument.');
});

it.each(Object.entries<(framework: never, options: never) => unknown>({ ...koaEntry }))(
  '%s names the fix when used as middleware or with swapped arguments',
  (_name, make) => {
    const context = { req: {}, res: {}, request: {} };
    expect(() => make(context as never, (() => Promise.resolve()) as never)).toThrow(
      'Pass Router itself as the first argument.',
    );
    expect(() => make({ toolkit: 'none' } as never, Router as never)).toThrow(
      'Pass Router itself as the first argument.',
    );
  },
);
