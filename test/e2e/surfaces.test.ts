import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import express from 'express';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import { RecordingUpstream } from '../support/recording-upstream.js';

let platform: RecordingUpstream;
let toolkit: Toolkit;
let site: Server;
let url: string;

beforeAll(async () => {
  platform = await RecordingUpstream.start();
  toolkit = createToolkit({
    a2aUrl: `${platform.origin}/a2a`,
    serviceApiUrl: `${platform.origin}/api`,
    serviceApiKey: 'site-key',
    serviceProjectId: 'proj-1',
  });
  const auth = (request: express.Request): string | null => request.get('x-user') ?? null;
  const app = express();
  app.use('/api/service', createServiceProxyRouter(express, { auth, toolkit }));
  app.use(express.json({ limit: '2mb' }));
  app.use('/api/a2a', createA2ARouter(express, { toolkit }));
  app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { cache: { enabled: true }, toolkit }));
  site = createServer(app).listen(0, '127.0.0.1');
  await once(site, 'listening');
  url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/api`;
});
afterAll(async () => {
  await toolkit.close();
  site.close();
  await platform.close();
});
beforeEach(() => {
  platform.requests.length = 0;
});

const post = (path: string, body: unknown = {}): Promise<Response> =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('the widget routes of an Express site', () => {
  it('render once and give the render out again while it is fresh, and anew after an action', async () => {
    let version = 0;
    platform.willAnswer((exchange) => {
      if (exchange.request.target.includes('/actions/')) version += 1;
      exchange.json(200, { surface: { id: 's-1', name: 'counter', version }, content: String(version) });
    });
    const first = await post('/service-surfaces/s-1/render', { a: 1 });
    expect([first.status, first.headers.get('x-cache')]).toEqual([200, 'MISS']);
    const second = await post('/service-surfaces/s-1/render', { a: 1 });
    expect(second.headers.get('x-cache')).toBe('HIT');
    expect(await second.json()).toMatchObject({ content: '0' });
    expect((await post('/service-surfaces/s-1/actions/increment')).status).toBe(200);
    expect(await (await post('/service-surfaces/s-1/render', { a: 1 })).json()).toMatchObject({ content: '1' });
    expect(platform.requests.map(({ target }) => target)).toEqual([
      '/api/surfaces/s-1/render',
      '/api/surfaces/s-1/actions/increment',
      '/api/surfaces/s-1/render',
    ]);
    const fields = Object.fromEntries(platform.requests[0]?.fields ?? []);
    expect(fields).toMatchObject({ 'x-api-key': 'site-key', 'x-project-id': 'proj-1' });
  });

  it('serve themes by name, and refuse one that is no style sheet', async () => {
    platform.willAnswer((exchange) => exchange.head(200, { 'content-type': 'text/css', etag: '"t1"' }).end('a{}'));
    const theme = await fetch(`${url}/service-surfaces/by-name/counter/theme.css`);
    expect([theme.status, theme.headers.get('content-type'), await theme.text()]).toEqual([
      200,
      'text/css; charset=utf-8',
      'a{}',
    ]);
    platform.willAnswer((exchange) => exchange.head(200, { 'content-type': 'text/html' }).end('<p>'));
    expect((await fetch(`${url}/service-surfaces/by-name/counter/theme.css`)).status).toBe(502);
  });

  it('serve nothing else', async () => {
    expect((await post('/service-surfaces/s-1')).status).toBe(404);
    expect((await fetch(`${url}/service-surfaces/s-1/render`)).status).toBe(405);
    expect(platform.requests).toEqual([]);
  });
});

describe('the conversation proxy of an Express site', () => {
  it('passes nothing on without a session', async () => {
    const answer = await fetch(`${url}/service/conversations`);
    expect([answer.status, (await answer.json()) as unknown]).toEqual([
      401,
      expect.objectContaining({ code: 'session_required' }),
    ]);
    expect(platform.requests).toEqual([]);
  });

  it('passes any method on in the name of the user, with its query and body', async () => {
    platform.willAnswer((exchange) => exchange.json(201, { ok: true }));
    const answer = await fetch(`${url}/service/conversations/7?a=1&a=2`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-user': 'ada-token' },
      body: '{"title":"x"}',
    });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const [request] = platform.requests;
    expect(request).toMatchObject({ method: 'PUT', target: '/api/conversations/7?a=1&a=2' });
    expect(request?.body.toString()).toBe('{"title":"x"}');
    expect(Object.fromEntries(request?.fields ?? [])).toMatchObject({ authorization: 'Bearer ada-token' });
  });
});

describe('the HTTP+JSON binding', () => {
  it('is served below the chat route when it is configured, and is 404 otherwise', async () => {
    const send = (): Promise<Response> => post('/a2a/message:send', { message: { parts: [{ text: 'hi' }] } });
    expect((await send()).status).toBe(404);
    expect(platform.requests).toEqual([]);
    const rest = createToolkit(
      { a2aUrl: `${platform.origin}/a2a`, serviceApiKey: 'site-key', bindings: ['HTTP+JSON'] },
      {},
    );
    platform.willAnswer((exchange) => {
      if (!exchange.request.target.includes('.well-known')) {
        exchange.json(200, { sent: exchange.request.target });
        return;
      }
      const supportedInterfaces = [
        { url: `${platform.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${platform.origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ];
      exchange.json(200, { name: 'Agent', supportedInterfaces });
    });
    const app = createServer(express().use('/api/a2a', createA2ARouter(express, { toolkit: rest })));
    app.listen(0, '127.0.0.1');
    await once(app, 'listening');
    const answer = await fetch(`http://127.0.0.1:${String((app.address() as AddressInfo).port)}/api/a2a/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: '{"message":{"parts":[{"text":"hi"}]}}',
    });
    expect([answer.status, await answer.json()]).toEqual([200, { sent: '/rest/message:send' }]);
    await rest.close();
    app.close();
  });
});

describe('the config route of an Express site', () => {
  it('gives a card that points at the site, the project and the brand', async () => {
    platform.willAnswer((exchange) => {
      const { target } = exchange.request;
      if (target.endsWith('/.well-known/agent-card.json')) {
        exchange.json(200, { name: 'Agent', url: `${platform.origin}/a2a`, capabilities: { streaming: true } });
      } else if (target === '/api/brand.css') exchange.head(200, { 'content-type': 'text/css' }).end(':root{}');
      else exchange.head(404).end();
    });
    const answer = await fetch(`${url}/a2a/config`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      agentCard: expect.objectContaining({ name: 'Agent', url: `${url}/a2a` }),
      serviceProjectId: 'proj-1',
      brandCss: ':root{}',
      supportsStreaming: true,
      a2aEndpoint: '/api/a2a',
      warnings: [],
    });
    expect(await toolkit.brandCss()).toBe(':root{}');
    expect(await toolkit.projectId()).toBe('proj-1');
  });
});
