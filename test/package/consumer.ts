// A site that uses every export of the README, in every framework. Prints each result on one line,
// so that two versions of the package can be compared by their output (scripts/consumer.mjs).
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import * as root from 'agent-bff';
import { configFromEnv, configureServer, createToolkit, type ServerConfig } from 'agent-bff';
import * as express from 'agent-bff/express';
import * as koa from 'agent-bff/koa';
import * as next from 'agent-bff/next';
import { createNodeHandler } from 'agent-bff/node';
import { FakeUpstream } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import express5 from 'express';
import express4 from 'express4';
import Koa from 'koa';

const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'message/send',
  params: { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] } },
});

/** The agent and the platform's API in one: each response names the request and its caller. */
const platform = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { method = '', url = '', headers } = request;
    const bearer = headers.authorization ?? '';
    const caller = [
      bearer.split('.').length === 3 ? 'Bearer a JWT' : bearer,
      headers['x-api-key'],
      headers['x-tenant'],
    ];
    const type = url.endsWith('.css') ? 'text/css' : 'application/json';
    response.setHeader('content-type', type);
    if (url.endsWith('agent-card.json')) {
      response.end(
        JSON.stringify({ name: 'Agent', url: 'https://agent.example/a2a', capabilities: { streaming: true } }),
      );
    } else if (type === 'text/css') response.end('.brand { color: teal }');
    else if (url.endsWith('/project')) response.end('{"id":"project-1"}');
    else response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { method, url, caller } }));
  });
});
const origin = await listen(platform);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const config: ServerConfig = {
  ...configFromEnv({ A2A_URL: `${origin}/a2a`, SERVICE_API_URL: `${origin}/api`, SERVICE_API_KEY: 'the-key' }),
  serviceAuthStrategy: 'service_account',
  serviceAccount: {
    serviceAccountId: 'site',
    keyId: 'key',
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  },
};
configureServer({ a2aUrl: config.a2aUrl });
const toolkit = configureServer(config);
const session = (): string => 'ada-token';

type Send = (path: string, init?: RequestInit) => Promise<Response>;
const POST: RequestInit = { method: 'POST', headers: { 'content-type': 'application/json' }, body: MESSAGE };
const RENDER: RequestInit = { ...POST, body: '{"data":{}}' };

/** Every route. */
async function visit(name: string, send: Send): Promise<void> {
  await print(`${name}: chat`, await send('/api/a2a', POST));
  await print(`${name}: config`, await send('/api/a2a/config'));
  await print(`${name}: render`, await send('/api/service-surfaces/1/render', RENDER));
  await print(`${name}: action by name`, await send('/api/service-surfaces/by-name/form/actions/save', RENDER));
  await print(`${name}: theme`, await send('/api/service-surfaces/1/theme.css'));
  await print(`${name}: records`, await send('/api/service/conversations?page=2'));
  await print(`${name}: outside of the allowlist`, await send('/api/service-surfaces/1/secrets'));
}

async function print(what: string, response: Response): Promise<void> {
  const text = (await response.text())
    .replaceAll(origin, 'platform')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'site')
    .replace(/"requestId":"[^"]*"/, '"requestId":"…"');
  console.log(`${what}: ${String(response.status)} ${response.headers.get('content-type') ?? '-'} ${text}`);
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

async function visitListener(name: string, listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  const url = await listen(server);
  await visit(name, (path, init) => fetch(url + path, { redirect: 'manual', ...init }));
  server.close();
  server.closeAllConnections();
}

const chat = { strategy: 'service_account', apiKey: 'the-key' } as const;
const surfaces = { apiKey: 'the-key', cache: { enabled: true } } as const;
const inExpress = { auth: session, audience: 'records' };

await visitListener(
  'Express 5',
  express5()
    .use('/api/service', express.createServiceProxyRouter(express5, inExpress))
    .use(express5.json({ limit: '2mb' }))
    .use('/api/a2a', express.createA2ARouter(express5, chat))
    .use('/api/service-surfaces', express.createServiceSurfaceRouter(express5, surfaces)),
);
await visitListener(
  'Express 4, from the root',
  express4()
    .use('/api/service', root.createServiceProxyRouter(express4, inExpress))
    .use(express4.json({ limit: '2mb' }))
    .use(
      '/api/a2a',
      root.createA2ARouter(express4, { getSessionToken: session, configGetHeaders: () => ({ 'x-tenant': 'a' }) }),
    )
    .use(
      '/api/service-surfaces',
      root.createServiceSurfaceRouter(express4, { getHeaders: () => ({ 'x-tenant': 'a' }) }),
    ),
);
await visitListener(
  'Koa',
  new Koa()
    .use(koa.createServiceProxyRouter(Router, { auth: session }).prefix('/api/service').routes())
    .use(koa.createA2ARouter(Router, chat).prefix('/api/a2a').routes())
    .use(koa.createServiceSurfaceRouter(Router, surfaces).prefix('/api/service-surfaces').routes())
    .callback(),
);
const routes = { a2a: chat, surfaces, service: { auth: session } };
await visitListener('node:http', createNodeHandler(routes));
const web = createWebHandler(routes);
await visit('the Web', (path, init) => web(new Request(`http://site.example${path}`, init)));

const getHeaders = next.createGetHeadersWithServiceAuth({ apiKey: 'the-key', strategy: 'service_account' });
const userHeaders = next.createGetHeadersForSession({ authClient: session, apiKey: 'the-key' });
const files: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
  '/api/a2a': next.createA2AProxyHandlerWithServiceAuth(chat).POST,
  '/api/a2a/config': (request) => next.handleA2AConfigWebGET(request, { getHeaders }),
  '/api/service-surfaces': next.createSurfaceHandlerWithServiceAuth({ ...surfaces, strategy: 'service_account' }),
  '/api/service': next.createServiceProxyHandler({ auth: session }),
};
const others: typeof files = {
  '/api/a2a': next.createA2AProxyHandler({ idp: session, audience: 'chat', apiKey: 'the-key' }).POST,
  '/api/a2a/config': (request) => next.handleA2AConfigWebGET(request, { getHeaders: userHeaders }),
  '/api/service-surfaces': next.createSurfaceHandler({ auth: session, requireSession: true, apiKey: 'the-key' }),
  '/api/service': next.createServiceProxyHandler({ auth: () => null }),
};
for (const [name, handlers] of Object.entries({ 'Next, as the service': files, 'Next, as the user': others })) {
  await visit(name, async (path, init) => {
    const mount = Object.keys(handlers).findLast((one) => path === one || path.startsWith(`${one}/`)) ?? '';
    return handlers[mount]?.(new Request(`http://site.example${path}`, init)) ?? new Response(null, { status: 404 });
  });
}
await print('handleA2AWebPOST', await next.handleA2AWebPOST(new Request('http://site.example/api/a2a', POST)));

const headers = await root.getAuthHeaders({ strategy: 'service_account', apiKey: 'other-key' });
console.log('getAuthHeaders:', Object.keys(headers).sort().join(), headers['x-api-key']);
console.log('getCachedServiceToken:', root.getCachedServiceToken()?.split('.').length, 'parts');
console.log('resolveServiceProjectId:', await root.resolveServiceProjectId());
console.log('resolveServiceBrand:', await root.resolveServiceBrand());

const upstream = new FakeUpstream();
const own = createToolkit(config, { upstream });
console.log('createToolkit:', (await own.health()).status);
await own.close();

// The compiler rejects wrong options, and so does the site when it starts.
// @ts-expect-error A misspelt option.
refused(() => next.createSurfaceHandler({ requireSesion: true }));
// @ts-expect-error The conversation records need a way to sign in.
refused(() => express.createServiceProxyRouter(express5, {}));

function refused(make: () => unknown): void {
  try {
    make();
    console.log('refused: nothing');
  } catch (error) {
    console.log('refused:', (error as root.ConfigurationError).message);
  }
}

await toolkit.close();
platform.close();
platform.closeAllConnections();
