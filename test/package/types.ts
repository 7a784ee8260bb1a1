// Compiles for a site in TypeScript under any module resolution, with or without the types of the DOM.
import {
  configFromEnv,
  configureServer,
  createToolkit,
  getAuthHeaders,
  getCachedServiceToken,
  resolveServiceBrand,
  resolveServiceProjectId,
  type ServerConfig,
} from 'agent-bff';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import {
  createA2AProxyHandlerWithServiceAuth,
  createGetHeadersWithServiceAuth,
  createServiceProxyHandler,
  createSurfaceHandler,
  handleA2AConfigWebGET,
} from 'agent-bff/next';
import { createNodeHandler } from 'agent-bff/node';
import { FakeUpstream } from 'agent-bff/testing';
import { createWebHandler } from 'agent-bff/web';
import express from 'express';
import express4 from 'express4';
import { createServer } from 'node:http';

const config: ServerConfig = { a2aUrl: 'https://agent.example/a2a', serviceAuthStrategy: 'service_account' };
configureServer({ ...configFromEnv(process.env), ...config });

const chat: express.Router = createA2ARouter(express, { strategy: 'service_account' });
const widgets: express.Router = createServiceSurfaceRouter(express, { cache: { enabled: true } });
const records: express.Router = createServiceProxyRouter(express, { auth: (request) => request.headers.authorization });
const oldChat: express4.Router = createA2ARouter(express4);
express().use('/api/a2a', chat).use('/api/service-surfaces', widgets).use('/api/service', records);
express4().use('/api/a2a', oldChat);
createServer(createNodeHandler({ toolkit: createToolkit(config, { upstream: new FakeUpstream() }) }));

const web: (request: Request) => Promise<Response> = createWebHandler({ a2a: { strategy: 'service_account' } });
export const { POST } = createA2AProxyHandlerWithServiceAuth();
export const surfaces = createSurfaceHandler({ cache: { enabled: true } });
export const service = createServiceProxyHandler({ auth: (request) => request.headers.get('authorization') });
export const GET = (request: Request): Promise<Response> =>
  handleA2AConfigWebGET(request, { getHeaders: createGetHeadersWithServiceAuth({ strategy: 'service_account' }) });
export const helpers: readonly [Promise<Record<string, string>>, string | null | undefined, Promise<unknown>[]] = [
  getAuthHeaders({ strategy: 'service_account' }),
  getCachedServiceToken(),
  [resolveServiceProjectId(), resolveServiceBrand()],
];
void web;

// @ts-expect-error The compiler rejects a misspelt field.
configureServer({ a2aURL: 'https://agent.example/a2a' });
// @ts-expect-error It rejects a misspelt option too.
createSurfaceHandler({ requireSesion: true });
// @ts-expect-error The conversation records need a way to sign in.
createServiceProxyRouter(express, {});
