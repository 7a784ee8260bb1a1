import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type * as Undici from 'undici';
import { Agent, ProxyAgent } from 'undici';
import { Agent as Agent6, ProxyAgent as ProxyAgent6 } from 'undici6';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DispatcherLike, DispatcherUpstream } from '../../src/adapters/undici/dispatcher-upstream.js';
import { upstreamFetch } from '../../src/adapters/undici/upstream-fetch.js';
import { lent } from '../../src/composition/toolkit/connections.js';
import type { HttpUpstream, UpstreamOutcome } from '../../src/ports/http.js';
import { httpUpstreamContract, responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { connectProxy } from '../support/connect-proxy.js';
import { privateAuthority } from '../support/identity-provider/private-authority.js';
import { loopbackCase } from '../support/loopback-case.js';
import { RecordingUpstream, refusedOrigin } from '../support/recording-upstream.js';
import { socketServer } from '../support/socket-server.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Made = DispatcherLike & { destroy(): Promise<unknown> };

interface Version {
  agent(options?: object): Made;
  proxy(address: string): Made;
}

const VERSIONS: Record<string, Version> = {
  'undici 6': { agent: (options) => new Agent6(options), proxy: (uri) => new ProxyAgent6(uri) },
  'undici 7': { agent: (options) => new Agent(options), proxy: (uri) => new ProxyAgent(uri) },
};
// undici 8 needs Node 22.19, so it is not among the packages that everyone installs.
const UNDICI8 = new URL('../../temp/undici8/node_modules/undici/index.js', import.meta.url);
const isRequired = process.env['REQUIRE_ALL'] !== undefined && Number(process.versions.node.split('.')[0]) > 20;
if (isRequired || existsSync(UNDICI8)) {
  const { default: undici8 } = (await import(UNDICI8.href)) as { default: typeof Undici };
  VERSIONS['undici 8'] = {
    agent: (options) => new undici8.Agent(options),
    proxy: (uri) => new undici8.ProxyAgent(uri),
  };
}

const upstreamOf = (dispatcher: DispatcherLike): HttpUpstream =>
  new DispatcherUpstream(() => Promise.resolve(dispatcher), '"dispatcher"');

/** Sends through a dispatcher that is closed when the test ends. */
function sent(dispatcher: Made, origin: string, changes: object = {}): Promise<UpstreamOutcome> {
  onTestFinished(async () => void (await dispatcher.destroy()));
  return upstreamOf(dispatcher).send(upstreamRequest(origin, changes));
}

describe.each(Object.entries(VERSIONS))('%s', (name, version) => {
  httpUpstreamContract(`a dispatcher of ${name}`, () => {
    const agent = version.agent();
    return loopbackCase(lent(upstreamOf(agent)).connect(), () => agent.destroy());
  });

  const FULL = 'x'.repeat(300_000);
  const LENGTH = `content-length: ${String(FULL.length)}\r\n`;
  const CHUNK = `${FULL.length.toString(16)}\r\n${FULL}\r\n`;
  const CLOSE = 'connection: close\r\n';
  const end = (socket: Socket): void => void socket.end();
  const reset = (socket: Socket): void => void socket.resetAndDestroy();

  /** Reads a response after its connection has ended. */
  async function readLate(fields: string, bytes: string, leave: (socket: Socket) => void, isProxied: boolean) {
    let left: () => void;
    const hasLeft = new Promise<void>((resolve) => (left = resolve));
    const host = await socketServer((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${fields}\r\n`);
        socket.write(bytes, () => leave(socket));
        socket.once('close', () => left());
      });
    });
    const dispatcher = isProxied ? version.proxy((await connectProxy()).address) : version.agent();
    const { body } = responseOf(await sent(dispatcher, `http://${host}`));
    await hasLeft;
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    return textOf(body);
  }

  describe.each([
    ['an agent', false],
    ['a proxy', true],
  ])('through %s', (_way, isProxied) => {
    it.each<[string, string, string, (socket: Socket) => void]>([
      ['a length, on a connection that is closed', LENGTH + CLOSE, FULL, end],
      ['a length, on a connection that ends', LENGTH, FULL, end],
      ['chunks, on a connection that is closed', `transfer-encoding: chunked\r\n${CLOSE}`, `${CHUNK}0\r\n\r\n`, end],
      ['neither', CLOSE, FULL, end],
    ])('a late reader gets all of a response with %s', async (_how, fields, bytes, leave) => {
      expect((await readLate(fields, bytes, leave, isProxied)).length).toBe(FULL.length);
    });

    it.each<[string, string, string, (socket: Socket) => void]>([
      ['half of its length', `content-length: 999999\r\n${CLOSE}`, FULL, end],
      ['half of its length, and a reset', 'content-length: 999999\r\n', FULL, reset],
      ['half of its chunks', `transfer-encoding: chunked\r\n${CLOSE}`, CHUNK, end],
      ['half of a JSON text', `content-type: application/json\r\n${CLOSE}`, '{"half', end],
    ])('a late reader gets an error for %s', async (_how, fields, bytes, leave) => {
      await expect(readLate(fields, bytes, leave, isProxied)).rejects.toThrow();
    });
  });

  it('ends the response that holds most when slow readers leave too much', async () => {
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willWait();
    const dispatcher = version.agent();
    onTestFinished(async () => void (await dispatcher.destroy()));
    const upstream = upstreamOf(dispatcher);
    const opened = async () => {
      const pending = upstream.send(upstreamRequest(platform.origin, { bodyIdleMs: 60_000 }));
      const exchange = await platform.next();
      exchange.head(200, { 'content-type': 'application/octet-stream' });
      return { exchange, body: responseOf(await pending).body };
    };
    const [small, large] = [await opened(), await opened()];
    small.exchange.write('a'.repeat(100_000));
    const megabytes = new Uint8Array(8 * 1_048_576);
    for (let count = 0; count < 9; count += 1) large.exchange.write(megabytes);
    await large.exchange.closed;
    expect(large.exchange.aborted).toBe(true);
    await expect(textOf(large.body)).rejects.toThrow('reads too slowly');
    small.exchange.end('b');
    expect(await textOf(small.body)).toHaveLength(100_001);
  });

  it('keeps no copy of a long message while its stream is open', async () => {
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willWait();
    const message = new WeakRef(new Uint8Array(100_000));
    const pending = sent(version.agent(), platform.origin, { body: message.deref() });
    const exchange = await platform.next();
    exchange.eventStream();
    const { body } = responseOf(await pending);
    await expect
      .poll(() => {
        collectGarbage();
        return message.deref();
      })
      .toBeUndefined();
    exchange.end('data: 1\n\n');
    expect(await textOf(body)).toBe('data: 1\n\n');
  });

  it('times out while a proxy is silent', async () => {
    const address = `http://${await socketServer()}`;
    const outcome = await sent(version.proxy(address), 'https://agent.example', { headersMs: 50 });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'timeout', sent: 'nothing' });
  });

  it('aborts a request that waits for a proxy when the browser leaves', async () => {
    const browser = new AbortController();
    const address = `http://${await socketServer(() => browser.abort())}`;
    const outcome = await sent(version.proxy(address), 'https://agent.example', { signal: browser.signal });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing' });
  });

  it('aborts the response when the browser leaves', async () => {
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willWait();
    const browser = new AbortController();
    const pending = sent(version.agent(), platform.origin, { signal: browser.signal });
    const exchange = await platform.next();
    exchange.head(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    const { body } = responseOf(await pending);
    browser.abort();
    await exchange.closed;
    await expect(textOf(body)).rejects.toThrow();
  });

  it.each([
    ['without a password', 407, /407.*requires another user name and password/],
    ['for a host it refuses', 403, /403.*the proxy refuses this host/],
  ])('names the refusal of a proxy %s', async (_why, status, log) => {
    const { address } = await connectProxy(status === 407 ? { password: 'open sesame' } : { refusal: status });
    const outcome = await sent(
      version.proxy(address.replace(/site:.*@/, 'site:a-wrong-password@')),
      'https://127.0.0.1:1',
    );
    expect(outcome).toMatchObject({
      kind: 'failure',
      reason: 'unreachable',
      log: expect.stringMatching(log) as string,
    });
    expect(JSON.stringify(outcome)).not.toContain('a-wrong-password');
  });

  it('names the certificate of a proxy', async () => {
    const { address } = await connectProxy({ tls: true, password: 'a-secret-password' });
    const outcome = await sent(version.proxy(address), 'https://127.0.0.1:1');
    const log = expect.stringMatching(/NODE_EXTRA_CA_CERTS.*through "dispatcher", so a proxy there/) as string;
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'unreachable', log });
    expect(JSON.stringify(outcome)).not.toContain('a-secret-password');
  });

  it('returns a failure for a dispatcher that throws', async () => {
    const thrown: unknown = 'busy';
    const broken = {
      dispatch: () => {
        throw thrown;
      },
      destroy: () => Promise.resolve(),
    };
    expect(await sent(broken, await refusedOrigin())).toMatchObject({ kind: 'failure', reason: 'unreachable' });
  });

  it('names a dispatcher that its site has closed', async () => {
    const closed = version.agent();
    await closed.destroy();
    expect(await sent(closed, await refusedOrigin())).toMatchObject({
      reason: 'unreachable',
      log: expect.stringContaining('the dispatcher was closed') as string,
    });
  });
});

describe('a fetch through an upstream', () => {
  const { ca } = privateAuthority();
  const agent = new Agent({ connect: { ca } });
  afterAll(() => agent.destroy());
  const through = upstreamFetch(upstreamOf(agent));

  it('sends a form and returns status, fields and text', async () => {
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willAnswer((exchange) => exchange.json(400, { error: 'no' }, { 'retry-after': '5' }));
    const type = 'application/x-www-form-urlencoded';
    const response = await through(`${platform.origin}/token?x=1`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: 'a=b',
    });
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      400,
      '5',
      '{"error":"no"}',
    ]);
    const [{ method, target, body, fields } = { method: '', target: '', body: '', fields: [] }] = platform.requests;
    expect([method, target, String(body)]).toEqual(['POST', '/token?x=1', 'a=b']);
    expect(fields).toEqual(
      expect.arrayContaining([
        ['content-type', type],
        ['user-agent', 'agent-bff'],
      ]),
    );
  });

  it('returns a redirect without following it, and an empty response', async () => {
    const platform = await RecordingUpstream.start();
    onTestFinished(() => platform.close());
    platform.willAnswer((exchange) => exchange.head(302, { location: '/' }).end('moved'));
    expect([(await through(platform.origin)).status, platform.requests.length]).toEqual([302, 1]);
    platform.willAnswer((exchange) => exchange.head(204).end());
    expect(await (await through(new URL(platform.origin))).text()).toBe('');
  });

  it('rejects with the code of the network, and with the reason of its signal', async () => {
    await expect(through(await refusedOrigin())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const silent = `http://${await socketServer()}`;
    await expect(through(silent, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('the proxy of the environment', () => {
  const ADDRESSES = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'];
  /** The proxy of a process with these variables. */
  async function proxyOf(variables: Readonly<Record<string, string>>): Promise<HttpUpstream | undefined> {
    vi.resetModules();
    const none = Object.fromEntries([...ADDRESSES, 'NODE_USE_ENV_PROXY'].map((name) => [name, undefined]));
    for (const [name, value] of Object.entries({ ...none, ...variables })) vi.stubEnv(name, value);
    return (await import('../../src/adapters/undici/environment-proxy.js')).environmentProxy();
  }

  it.each(ADDRESSES)('is that of %s, if NODE_USE_ENV_PROXY is 1', async (name) => {
    const address = 'http://proxy.example';
    expect(await proxyOf({ [name]: address, NODE_USE_ENV_PROXY: '1' })).toBeDefined();
    expect(await proxyOf({ [name]: address, NODE_USE_ENV_PROXY: '0' })).toBeUndefined();
    expect(await proxyOf({ [name]: '', NODE_USE_ENV_PROXY: '1' })).toBeUndefined();
  });

  it('is one for all toolkits', async () => {
    const proxy = await proxyOf({ HTTPS_PROXY: 'http://proxy.example', NODE_USE_ENV_PROXY: '1' });
    const { environmentProxy } = await import('../../src/adapters/undici/environment-proxy.js');
    expect(environmentProxy()).toBe(proxy);
  });

  it('names variables with an invalid address, without the password', async () => {
    const proxy = await proxyOf({ HTTPS_PROXY: 'http://site:a-proxy-password@:0x', NODE_USE_ENV_PROXY: '1' });
    const outcome = await proxy?.send(upstreamRequest('https://agent.example'));
    expect(outcome).toMatchObject({
      reason: 'unreachable',
      log: expect.stringMatching(/is not valid: set it to/) as string,
    });
    expect(JSON.stringify(outcome)).not.toContain('a-proxy-password');
  });
});
