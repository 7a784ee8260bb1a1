import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { configFromEnv, configureServer, createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { RecordingTelemetry } from 'agent-bff/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { type StandaloneServer, startServer } from '../support/redis-topology.mjs';
import { surfaceRoute } from '../support/toolkit-routes.js';

/** Long enough that a slow machine does not look like a store that is down. */
const PATIENT = { cacheMs: 5_000 };
const cacheKeys = [randomBytes(32).toString('hex')];

describe.skipIf(REDIS_SERVER === undefined)('a shared cache configured by its address', { timeout: 20_000 }, () => {
  let redis: StandaloneServer;
  let upstream: RecordingUpstream;
  const open: Toolkit[] = [];

  beforeAll(async () => {
    redis = await startServer();
    upstream = await RecordingUpstream.start();
  });
  afterEach(() => Promise.all(open.splice(0).map((toolkit) => toolkit.close({ graceMs: 0 }))));
  afterAll(async () => {
    await redis.close();
    await upstream.close();
  });

  /** The configuration of every process of a site. */
  const site = (changes: ServerConfig = {}): ServerConfig => ({
    ...configFromEnv({
      SERVICE_API_URL: `${upstream.origin}/api`,
      SERVICE_API_KEY: 'site-key',
      CACHE_URL: redis.url,
      CACHE_KEYS: cacheKeys.join(','),
    }),
    timeouts: PATIENT,
    ...changes,
  });
  function start(config: ServerConfig = site()): Toolkit {
    const toolkit = createToolkit(config);
    open.push(toolkit);
    return toolkit;
  }
  /** The status and cache result of a render. */
  async function render(toolkit: Toolkit, widget: string): Promise<unknown> {
    const response = await surfaceRoute(toolkit, { cache: { enabled: true, freshMs: 60_000, maxAgeMs: 60_000 } })(
      browserRequest({ path: `/${widget}/render` }),
    );
    await textOf(response.body);
    return [response.status, response.headers['x-cache']];
  }
  /** The number of connections from sites, as Redis counts them. */
  const connections = async (): Promise<number> =>
    (await redis.cli('client', 'list', 'type', 'normal')).split('\n').length - 1;

  it('with a wrong password serves renders and reports WRONGPASS to the operator only', async () => {
    const telemetry = new RecordingTelemetry();
    await redis.cli('config', 'set', 'requirepass', 'the-right-password');
    onTestFinished(async () => {
      await redis.cli('-a', 'the-right-password', 'config', 'set', 'requirepass', '');
    });
    const address = redis.url.replace('//', '//:the-wr%6Fng-password@');
    const toolkit = start(site({ cacheStore: address, telemetry }));
    expect(await render(toolkit, 'refused')).toEqual([200, 'MISS']);
    expect(await render(toolkit, 'refused')).toEqual([200, 'MISS']);
    const events = JSON.stringify(telemetry.events);
    expect(events).toContain('WRONGPASS');
    for (const text of [events, inspect(toolkit, { depth: 9, showHidden: true })]) {
      expect(text).not.toMatch(/the-wr(o|%6F)ng-password/);
    }
  });

  it('that starts after the site is used as soon as it accepts connections', async () => {
    await redis.kill();
    const telemetry = new RecordingTelemetry();
    const toolkit = start(site({ timeouts: { cacheMs: 200 }, telemetry }));
    expect(await render(toolkit, 'early')).toEqual([200, 'MISS']);
    expect(await render(toolkit, 'early')).toEqual([200, 'MISS']);
    expect(JSON.stringify(telemetry.events)).toContain('ECONNREFUSED');
    await redis.start();
    await expect.poll(() => render(toolkit, 'early'), { timeout: 10_000 }).toEqual([200, 'HIT']);
  });

  it('is disconnected when its toolkit closes', async () => {
    const toolkit = start();
    await render(toolkit, 'closed');
    expect(await connections()).toBe(1);
    await toolkit.close();
    await expect.poll(() => connections()).toBe(0);
  });

  it('is disconnected when another configuration replaces it, and stays connected when unchanged', async () => {
    const first = configureServer(site());
    await render(first, 'replaced');
    const calls = upstream.requests.length;
    const second = configureServer({ keepAliveMs: 1_000 });
    expect(await render(second, 'replaced')).toEqual([200, 'HIT']);
    expect(upstream.requests).toHaveLength(calls);
    expect(await connections()).toBe(1);
    const third = configureServer({ cacheStore: '' });
    await expect.poll(() => connections()).toBe(0);
    expect(await render(third, 'replaced')).toEqual([200, 'MISS']);
    await third.close();
  });

  it.each(['closed', 'left open'])('lets a process exit whose toolkit is %s', async (how) => {
    const program = `
      import { createToolkit } from 'agent-bff';
      import { createWebHandler } from 'agent-bff/web';
      const toolkit = createToolkit(${JSON.stringify(site())});
      const cache = { enabled: true, freshMs: 60_000, maxAgeMs: 60_000 };
      const response = await createWebHandler({ toolkit, surfaces: { cache } })(
        new Request('https://site.example/api/service-surfaces/leaving/render', {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}',
        }),
      );
      console.log(response.status);
      if (${JSON.stringify(how)} === 'closed') await toolkit.close();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (chunk) => (printed += String(chunk)));
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(printed).toBe('200\n');
  });
});
