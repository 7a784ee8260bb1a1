import type { IncomingMessage, RequestListener } from 'node:http';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import { createA2AProxyHandler, createServiceProxyHandler, createSurfaceHandler } from 'agent-bff/next';
import { createNodeHandler } from 'agent-bff/node';
import { createWebHandler } from 'agent-bff/web';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { RecordingUpstream } from '../support/recording-upstream.js';

type Fetcher = (path: string, init: RequestInit) => Promise<Response>;

const FORWARD = { request: ['X-Agent-Trace', 'prefer'], response: ['x-agent-trace'] };
const BASE = 'https://shop.example';

async function served(listener: RequestListener): Promise<Fetcher> {
  const site = await listeningSite(listener);
  onTestFinished(() => site.close());
  return (path, init) => fetch(site.url + path, init);
}

const auth = (_request: unknown) => 'token';

/** Each host, with a function that reads the tenant from its own request. */
const HOSTS: Readonly<Record<string, (toolkit: Toolkit) => Promise<Fetcher> | Fetcher>> = {
  'node:http': (toolkit) => {
    const headers = (request: IncomingMessage) => ({ 'x-tenant': String(request.headers['x-shop']) });
    const fields = { headers, forward: FORWARD };
    const routes = { a2a: fields, surfaces: { auth, ...fields }, service: { auth, ...fields } };
    return served(createNodeHandler({ toolkit, ...routes }));
  },
  'the web': (toolkit) => {
    const headers = (request: Request) => ({ 'x-tenant': request.headers.get('x-shop') });
    const fields = { headers, forward: FORWARD };
    const routes = { a2a: fields, surfaces: { auth, ...fields }, service: { auth, ...fields } };
    const handle = createWebHandler({ toolkit, ...routes });
    return (path, init) => handle(new Request(BASE + path, init));
  },
  Next: (toolkit) => {
    const headers = (request: Request) => new Headers({ 'x-tenant': request.headers.get('x-shop') ?? '' });
    const fields = { toolkit, headers, forward: FORWARD };
    const routes = {
      '/api/a2a': createA2AProxyHandler({ ...fields, idp: auth }),
      '/api/service-surfaces': createSurfaceHandler({ ...fields, auth }),
      '/api/service/': createServiceProxyHandler({ ...fields, auth }),
    };
    return (path, init) => {
      const route = Object.entries(routes).find(([mount]) => path.startsWith(mount))?.[1];
      if (route === undefined) throw new Error(path);
      return route(new Request(BASE + path, init));
    };
  },
  Express: (toolkit) => {
    const headers = (request: express.Request) => [['x-tenant', String(request.get('x-shop'))]];
    const fields = { toolkit, headers, forward: FORWARD };
    const app = express();
    app.use('/api/a2a', createA2ARouter(express, fields));
    app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { ...fields, auth }));
    app.use('/api/service', createServiceProxyRouter(express, { ...fields, auth }));
    return served(app);
  },
};

async function platform(headers: Record<string, string>) {
  const upstream = await RecordingUpstream.start();
  upstream.willAnswer((exchange) => {
    const theme = exchange.request.target.endsWith('theme.css');
    exchange.head(200, { 'content-type': theme ? 'text/css' : 'application/json', ...headers }).end('{}');
  });
  const { origin } = upstream;
  const config = { a2aUrl: `${origin}/agent`, serviceApiUrl: `${origin}/api`, serviceApiKey: 'the-api-key' };
  const toolkit = createToolkit({ ...config, telemetry: 'silent' });
  onTestFinished(async () => {
    await toolkit.close();
    await upstream.close();
  });
  return { upstream, toolkit };
}

const MESSAGE = '{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{}}}';
const ROUTES = [
  ['a chat message', 'POST', '/api/a2a', MESSAGE],
  ['a render', 'POST', '/api/service-surfaces/board/render', '{}'],
  ['an action', 'POST', '/api/service-surfaces/board/actions/save', '{}'],
  ['a theme', 'GET', '/api/service-surfaces/board/theme.css', undefined],
  ['a record', 'PUT', '/api/service/notes/1', '{}'],
] as const;

describe.each(Object.entries(HOSTS))('the site’s own fields behind %s', (_name, start) => {
  it.each(ROUTES)('are the only extra fields forwarded with %s', async (_what, method, path, body) => {
    const { upstream, toolkit } = await platform({ 'x-agent-trace': 'of the agent', 'x-internal': 'of the agent' });
    const visit = await start(toolkit);
    const response = await visit(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        'x-shop': 'acme',
        'x-agent-trace': 'of the browser',
        'x-tenant': 'forged by the browser',
        'x-other': 'of the browser',
      },
      ...(body === undefined ? {} : { body }),
    });
    expect([response.status, await response.text()]).toEqual([200, '{}']);
    const [request] = upstream.requests;
    const sent = request?.fields.filter(([name]) => name.startsWith('x-'));
    expect(Object.fromEntries(sent ?? [])).toEqual({
      'x-api-key': 'the-api-key',
      'x-tenant': 'acme',
      'x-agent-trace': 'of the browser',
    });
    expect([response.headers.get('x-agent-trace'), response.headers.get('x-internal')]).toEqual(['of the agent', null]);
  });
});
