import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Koa from 'koa';
import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeUpstream } from '../../../src/adapters/fakes/fakes.js';
import { createHandlers as forExpress } from '../../../src/composition/express.js';
import { createToolkit, type HandlersOptions } from '../../../src/composition/index.js';
import { createHandlers as forKoa } from '../../../src/composition/koa.js';
import { createHandlers as forNext } from '../../../src/composition/next.js';
import { createHandlers as forNode } from '../../../src/composition/node.js';
import { createHandlers as forWeb } from '../../../src/composition/web.js';
import { listeningSite } from './listening-site.js';

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

const card = { name: 'agent', url: 'https://agent.example/a2a', capabilities: { streaming: true } };

/** A platform and an agent that respond with the requested path. */
const upstream = () =>
  new FakeUpstream(({ method, path, headers }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      path.includes('agent-card') ? card : { asked: `${method} ${path}`, authorization: headers['authorization'] },
    ),
  }));

function options(more: HandlersOptions = {}): HandlersOptions {
  const config = {
    a2aUrl: 'https://agent.example/a2a',
    serviceApiUrl: 'https://platform.example/v1',
    serviceApiKey: 'key',
    serviceProjectId: 'project',
  };
  return { toolkit: createToolkit(config, { upstream: upstream() }), ...more };
}

async function listening(listener: RequestListener): Promise<Ask> {
  const { url, close } = await listeningSite(listener);
  onTestFinished(close);
  return (path, init) => fetch(url + path, init);
}

/** As Next calls `app/api/[...path]/route.ts`. */
const inNext = (given: HandlersOptions): Promise<Ask> => {
  const handlers = forNext(given);
  return Promise.resolve((path, { method = 'GET', ...init } = {}) => {
    const params = { path: path.split('/').slice(2) };
    const request = new Request(`http://site.example${path}`, { method, ...init });
    return handlers[method as 'GET' | 'POST'](request, { params: Promise.resolve(params) });
  });
};

const HOSTS: readonly (readonly [string, (given: HandlersOptions) => Promise<Ask>])[] = [
  ['Express 5', (given) => listening(express().use('/api', forExpress(express, given)))],
  [
    'Express 4',
    (given) =>
      listening((express4 as unknown as typeof express)().use('/api', forExpress(express4 as never, given) as never)),
  ],
  [
    'Koa',
    (given) => listening(new Koa().use(forKoa(Router, given).prefix('/api').routes() as Koa.Middleware).callback()),
  ],
  ['Next', inNext],
  ['node:http', (given) => listening(forNode(given))],
  [
    'a Web server',
    (given) => {
      const handler = forWeb(given);
      return Promise.resolve((path, init) => handler(new Request(`http://site.example${path}`, init)));
    },
  ],
];

const message = { method: 'POST', headers: { 'content-type': 'application/json' } };

describe.each(HOSTS)('createHandlers in %s', (_name, serve) => {
  it('serves chat, its configuration and widgets below one mount', async () => {
    const ask = await serve(options());
    const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} });
    const chat = await ask('/api/a2a', { ...message, body: rpc });
    expect(await chat.json()).toMatchObject({ asked: 'POST /a2a' });
    const config = (await (await ask('/api/a2a/config')).json()) as { agentCard: { url: string }; a2aEndpoint: string };
    expect(new URL(config.agentCard.url).pathname).toBe('/api/a2a');
    const render = await ask('/api/service-surfaces/poll/render', { ...message, body: '{}' });
    expect((await render.json()) as { asked: string }).toMatchObject({
      asked: expect.stringMatching(/^POST .*poll.*render/) as string,
    });
  });

  it('serves conversation records only with a session source', async () => {
    const without = await serve(options());
    expect((await without('/api/service/conversations')).status).toBe(404);
    const ask = await serve(options({ service: { auth: (_request: unknown) => 'token-of-ada' } }));
    const records = await ask('/api/service/conversations');
    expect(await records.json()).toMatchObject({ authorization: 'Bearer token-of-ada' });
  });

  it('responds 404 to any other path below its mount', async () => {
    const ask = await serve(options());
    expect((await ask('/api/a2abc')).status).toBe(404);
    expect((await ask('/api/other')).status).toBe(404);
  });
});

it('createHandlers rejects basePath and lists the known options', () => {
  expect(() => forExpress(express, { basePath: '/x' } as never)).toThrow(
    'Unknown option "basePath" of createHandlers. Known options: toolkit, a2a, surfaces, service.',
  );
});
