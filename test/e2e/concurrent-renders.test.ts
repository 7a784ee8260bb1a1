import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createToolkit, type Toolkit } from 'agent-bff';
import { createServiceSurfaceRouter } from 'agent-bff/express';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RecordingUpstream } from '../support/recording-upstream.js';

let platform: RecordingUpstream;
let toolkit: Toolkit;
let site: Server;
let url: string;
/** The platform answers nobody before all visitors are at the site. */
let everybody: Promise<void>;
let everybodyIsThere: () => void;
let arrived: number;

const VISITORS = 200;

beforeAll(async () => {
  platform = await RecordingUpstream.start();
  // So long that a machine under load cannot be taken for a platform that is away.
  const timeouts = { connectMs: 60_000 };
  toolkit = createToolkit({ serviceApiUrl: `${platform.origin}/api`, serviceApiKey: 'site-key', timeouts });
  const cache = { enabled: true, freshMs: 300_000 };
  const getHeaders = (request: express.Request) => ({ authorization: `Bearer ${request.get('x-user') ?? ''}` });
  const app = express();
  app.use((_request, _response, next) => {
    arrived += 1;
    if (arrived === VISITORS) everybodyIsThere();
    next();
  });
  app.use(express.json());
  app.use('/one-caller', createServiceSurfaceRouter(express, { cache, toolkit }));
  app.use('/many-callers', createServiceSurfaceRouter(express, { cache, getHeaders, toolkit }));
  site = createServer(app).listen(0, '127.0.0.1', 1024);
  await once(site, 'listening');
  url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  await toolkit.close();
  site.close();
  site.closeAllConnections();
  await platform.close();
});
beforeEach(() => {
  platform.requests.length = 0;
  arrived = 0;
  everybody = new Promise((resolve) => {
    everybodyIsThere = resolve;
  });
  platform.willAnswer(async (exchange) => {
    await everybody;
    exchange.json(200, { surface: { id: 's-1', name: 'board' }, content: exchange.values('authorization')[0] ?? '' });
  });
});

async function render(mount: string, user = ''): Promise<unknown> {
  const response = await fetch(`${url}${mount}/s-1/render`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': user },
    body: '{"page":1}',
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return (JSON.parse(text) as { content: unknown }).content;
}

describe('visitors who all come at once', { timeout: 30_000 }, () => {
  it('200 of them cost one render', async () => {
    const shown = await Promise.all(Array.from({ length: VISITORS }, () => render('/one-caller')));
    expect(new Set(shown)).toEqual(new Set(['']));
    expect(platform.requests).toHaveLength(1);
  });

  it('20 callers in 10 windows each cost 20 renders, and everybody sees their own', async () => {
    const users = Array.from({ length: VISITORS }, (_, index) => `user-${String(index % 20)}`);
    const shown = await Promise.all(users.map((user) => render('/many-callers', user)));
    expect(shown).toEqual(users.map((user) => `Bearer ${user}`));
    expect(platform.requests).toHaveLength(20);
  });
});
