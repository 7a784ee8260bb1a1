// The site of the soak in its own process: Express, all three routers, renders and tokens in Redis. Communicates by IPC.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openDescriptors } from './site-process.mjs';

const FILE = fileURLToPath(import.meta.url);

/** Starts the site; `faults` describes every failure in it. */
export async function startSoakSite(settings) {
  const child = fork(FILE, [], { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  const faults = [];
  let closing = false;
  child.stderr.setEncoding('utf8').on('data', (text) => faults.push(text.trim()));
  child.on('message', ({ fault }) => fault !== undefined && faults.push(fault));
  const exited = once(child, 'exit').then(([code, signal]) => {
    if (!closing || code !== 0) faults.push(`the site ended: ${signal ?? code}`);
  });
  const ask = (message) =>
    Promise.race([
      new Promise((resolve) => {
        const listen = (answer) => {
          if (answer.fault !== undefined) return;
          child.off('message', listen);
          resolve(answer);
        };
        child.on('message', listen);
        child.send(message);
      }),
      exited.then(() => {
        throw new Error(faults.join('\n'));
      }),
    ]);
  const { url } = await ask(settings);
  return {
    url,
    faults,
    /** Resources the process holds after a garbage collection. */
    measure: () => ask('measure'),
    /** Counts of telemetry events, by type. */
    events: () => ask('events'),
    /** Shuts the site down as a deployment does; resolves when the process has nothing left to do. */
    close: async () => {
      closing = true;
      child.send('close');
      const hung = setTimeout(() => {
        faults.push('the site did not end by itself');
        child.kill('SIGKILL');
      }, 30_000);
      await exited;
      clearTimeout(hung);
    },
  };
}

async function serve({ platform, privateKeyPem, redis, cacheKeys, clock: { startedAt, speed } }) {
  const { createToolkit } = await import('agent-bff');
  const { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } = await import('agent-bff/express');
  const { default: express } = await import('express');
  const { default: KeyvRedis } = await import('@keyv/redis');
  const { Keyv } = await import('keyv');

  const events = {};
  const told = ({ type, outcome, side }) => {
    const name = [type, outcome ?? side].filter(Boolean).join(' ');
    events[name] = (events[name] ?? 0) + 1;
  };
  const adapter = redis === undefined ? undefined : new KeyvRedis(redis);
  adapter?.on('error', () => undefined);
  const keyv = adapter && new Keyv(adapter);
  await keyv?.get('a connection must be open before descriptors are counted');
  const toolkit = createToolkit(
    {
      a2aUrl: `${platform}/a2a`,
      conversations: 'open',
      serviceApiUrl: `${platform}/api`,
      serviceAccount: { serviceAccountId: 'site', keyId: 'key', privateKeyPem, audience: 'platform' },
      serviceAuthStrategy: 'service_account',
      // Generous for a busy machine: only a response that never comes may time out.
      timeouts: { connectMs: 20_000, headersMs: 5_000, streamIdleMs: 5_000, bodyIdleMs: 5_000, cacheMs: 500 },
      ...(keyv && { cacheStore: keyv, cacheKeys }),
      telemetry: { emit: told },
    },
    // The hours of a token pass in minutes.
    { clock: { now: () => startedAt + (Date.now() - startedAt) * speed } },
  );
  const auth = ({ headers }) => {
    const [, name] = /user=(\w+)/.exec(headers.cookie ?? '') ?? [];
    if (name === undefined) return null;
    // Every second the session has a new token of the same user.
    return { kind: 'token', accessToken: `${name}.${Math.floor(Date.now() / 1_000)}`, subject: `soak|${name}` };
  };
  const app = express();
  app.use('/api/service', createServiceProxyRouter(express, { auth, toolkit }));
  app.use(express.json({ limit: '2mb' }));
  app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account', toolkit }));
  app.use('/api/user-a2a', createA2ARouter(express, { getSessionToken: auth, toolkit }));
  const cache = { enabled: true, freshMs: 60_000 };
  app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { auth, cache, toolkit }));
  const server = app.listen(0, '127.0.0.1', 1_024);
  // Idle timeouts are tested elsewhere.
  server.keepAliveTimeout = 120_000;
  await once(server, 'listening');

  let closing = false;
  // The parent process has exited.
  process.on('disconnect', () => closing || process.exit(1));
  process.on('message', async (message) => {
    if (message === 'measure') process.send(await figures());
    else if (message === 'events') process.send(events);
    else if (message === 'close') {
      closing = true;
      server.close();
      await toolkit.close({ graceMs: 5_000 });
      server.closeAllConnections();
      await adapter?.disconnect(true);
      process.disconnect();
    }
  });
  process.send({ url: `http://127.0.0.1:${server.address().port}` });
}

async function figures() {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc();
    // Finalizers run between two turns.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const handles = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  return { rss, heapUsed, external, handles, descriptors: openDescriptors() };
}

if (process.argv[1] === FILE) {
  const report = (what) => (error) => process.send({ fault: `${what}: ${error?.stack ?? String(error)}` });
  process.on('uncaughtException', report('uncaught exception'));
  process.on('unhandledRejection', report('unhandled rejection'));
  process.on('warning', report('warning'));
  process.once('message', serve);
}
