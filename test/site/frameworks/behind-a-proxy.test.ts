import { createServer, type IncomingMessage, request as open, type RequestListener } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { createToolkit, rateLimiter } from 'agent-bff';
import { createHandlers as expressHandlers } from 'agent-bff/express';
import { createHandlers as koaHandlers } from 'agent-bff/koa';
import { createNodeHandler } from 'agent-bff/node';
import { FakeUpstream, RecordingTelemetry } from 'agent-bff/testing';
import Router from '@koa/router';
import express from 'express';
import express4 from 'express4';
import Koa from 'koa';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeAll, listening } from '../../support/listening.mjs';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { MESSAGE, visit } from '../../support/visitor.js';

type Toolkit = ReturnType<typeof createToolkit>;
type Start = (toolkit: Toolkit, isTrusting: boolean) => RequestListener;

const expressApp =
  (framework: typeof express): Start =>
  (toolkit, isTrusting) => {
    const app = framework();
    if (isTrusting) app.set('trust proxy', 1);
    return app.use('/api', expressHandlers(framework, { toolkit })) as RequestListener;
  };
const koaApp: Start = (toolkit, isTrusting) => {
  const app = new Koa({ proxy: isTrusting });
  app.use(koaHandlers(Router, { toolkit }).prefix('/api').routes());
  return app.callback();
};
/** The frameworks with a setting that trusts a proxy, in its default and on. */
const FRAMEWORKS = [
  ['Express 4', expressApp(express4 as unknown as typeof express)],
  ['Express 5', expressApp(express)],
  ['Koa', koaApp],
] as const;

const FORWARDED = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'site.example' };
const PAGE = { host: '10.0.0.7:3000', origin: 'http://site.example' };

function site(config: Parameters<typeof createToolkit>[0] = {}) {
  const telemetry = new RecordingTelemetry();
  const settings = { a2aUrl: 'https://agent.example/a2a', serviceApiKey: 'test', telemetry, ...config };
  const toolkit = createToolkit(settings, { upstream: new FakeUpstream() });
  onTestFinished(() => toolkit.close());
  return { toolkit, telemetry };
}

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => closeAll(server));
  return listening(server);
}

describe('behind a proxy that replaces "Host", over plain http', () => {
  it.each(FRAMEWORKS)('%s accepts the own page, and no other, once it trusts the proxy', async (_name, start) => {
    const { toolkit } = site();
    const url = await served(start(toolkit, true));
    const statusOf = async (headers: Record<string, string>) => (await visit(url, { headers })).status;
    expect(await statusOf({ ...PAGE, ...FORWARDED })).toBe(200);
    expect(await statusOf({ ...PAGE, ...FORWARDED, origin: 'http://evil.example' })).toBe(403);
    expect(await statusOf({ ...PAGE, ...FORWARDED, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf(PAGE)).toBe(403);
  });

  it('accepts the own page where "publicUrl" is set', async () => {
    const { toolkit } = site({ publicUrl: 'http://site.example' });
    const url = await served(createNodeHandler({ toolkit }));
    expect((await visit(url, { headers: PAGE })).status).toBe(200);
  });
});

describe('on a Unix socket', () => {
  const oneMessage = (options?: Parameters<typeof rateLimiter>[1]) =>
    rateLimiter(new RateLimiterMemory({ points: 1, duration: 60 }), options);

  /** Statuses of one message each from these addresses, in this order. */
  async function statusesOf(
    listener: RequestListener,
    ...addresses: readonly string[]
  ): Promise<(number | undefined)[]> {
    const socketPath = join(temporaryFolder('socket'), 'site.sock');
    const server = createServer(listener).listen(socketPath);
    onTestFinished(() => closeAll(server));
    await once(server, 'listening');
    const statuses: (number | undefined)[] = [];
    for (const address of addresses) {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      const request = open({ socketPath, method: 'POST', path: '/api/a2a', headers }).end(MESSAGE);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      statuses.push(response.statusCode);
    }
    return statuses;
  }

  it.each(FRAMEWORKS)('%s counts by the forwarded address if it trusts the proxy', async (_name, start) => {
    const { toolkit } = site({ chatLimit: oneMessage() });
    const statuses = await statusesOf(start(toolkit, true), '192.0.2.1', '192.0.2.2', '192.0.2.1');
    expect(statuses).toEqual([200, 200, 429]);
  });

  it.each([...FRAMEWORKS, ['node:http', (toolkit) => createNodeHandler({ toolkit })] as [string, Start]])(
    '%s answers the first message with 500 otherwise, and the log names the mend',
    async (_name, start) => {
      const { toolkit, telemetry } = site({ chatLimit: oneMessage() });
      expect(await statusesOf(start(toolkit, false), '192.0.2.1')).toEqual([500]);
      expect(telemetry.of('error')).toMatchObject([
        {
          code: 'internal_error',
          detail: expect.stringMatching(/Unix socket.*'trust proxy'.*app\.proxy.*"visitor"/) as string,
        },
      ]);
    },
  );

  it('counts by the function of the site', async () => {
    const visitor = ({ headers }: { headers: Record<string, string> }) => headers['x-forwarded-for'];
    const { toolkit } = site({ chatLimit: oneMessage({ visitor }) });
    const statuses = await statusesOf(createNodeHandler({ toolkit }), '192.0.2.1', '192.0.2.2', '192.0.2.1');
    expect(statuses).toEqual([200, 200, 429]);
  });
});
