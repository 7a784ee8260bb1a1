import { writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { ServerConfig } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../src/composition/cli/run-command.js';
import { runCommandLine } from '../support/command-line.js';
import { RawClient } from '../support/raw-client.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { visit } from '../support/visitor.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1');

/** Starts a gateway from the command line and waits until it prints its address. */
function startGateway(...args: string[]) {
  return startGatewayOf({}, ...args);
}

async function startGatewayOf(changes: ServerConfig, ...args: string[]) {
  const upstream = await RecordingUpstream.start();
  const folder = temporaryFolder('serve');
  const config = join(folder, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      a2aUrl: `${upstream.origin}/agent`,
      serviceAuthStrategy: 'demo',
      conversations: 'open',
      ...changes,
    }),
  );
  const printed: string[] = [];
  const provider = new FakeIdentityProvider('gateway');
  let stop = (): void => undefined;
  let status: Promise<number> | undefined;
  onTestFinished(async () => {
    stop();
    await status;
    await upstream.close();
  });
  const url = await new Promise<string>((resolve, reject) => {
    const terminal = {
      env: {},
      print: (text: string) => printed.push(text),
      complain: (text: string) => {
        const address = /serves at (\S+?);/.exec(text)?.[1];
        if (address === undefined) reject(new Error(text));
        else resolve(address);
      },
      stopped: new Promise<void>((settle) => {
        stop = settle;
      }),
    };
    status = runCommand(['serve', '--config', config, '--port', '0', ...args], terminal, {
      identityProviders: { demo: provider },
    });
  });
  const lines = () => printed.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { url, origin: new URL(url).origin, upstream, provider, stop, status: () => status, lines };
}

describe('agent-bff serve', () => {
  it('serves the routes with the configured credential', async () => {
    const { url, origin, upstream } = await startGateway();
    expect(url).toBe(`${origin}/api`);
    const reply = await visit(origin);
    expect(await reply.json()).toEqual({ jsonrpc: '2.0', id: 7, result: { id: 'task-1' } });
    expect(Object.fromEntries(upstream.requests[0]?.fields ?? [])['authorization']).toBe('Bearer gateway-token-1');
    expect((await visit(origin, { method: 'GET', path: '/elsewhere' })).status).toBe(404);
  });

  it('serves the routes under another base path', async () => {
    const { origin } = await startGateway('--base', '/bff');
    expect((await visit(origin, { path: '/bff/a2a' })).status).toBe(200);
    expect((await visit(origin)).status).toBe(404);
  });

  it('reports ready at /healthz without private data', async () => {
    const { origin, provider } = await startGateway();
    const health = await visit(origin, { method: 'GET', path: '/healthz' });
    expect([health.status, health.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(await health.json()).toMatchObject({ status: 'ready' });
    expect(provider.issued).toBe(1);
  });

  it('keeps serving while its credential fails, and reports "degraded" at /healthz', async () => {
    const { origin, provider } = await startGateway();
    provider.answer = () => ({
      kind: 'failure',
      reason: 'refused',
      block: 'demo',
      fields: [],
      advice: 'Check it.',
      log: 'the password hunter2-hunter2 was refused',
    });
    const health = await visit(origin, { method: 'GET', path: '/healthz' });
    expect(health.status).toBe(200);
    const text = await health.text();
    expect(JSON.parse(text)).toMatchObject({ status: 'degraded', checks: { credential: { block: 'demo' } } });
    expect(text).not.toContain('hunter2');
  });

  it('on all addresses accepts any host unless "allowedHosts" is set', async () => {
    const statusesOf = async (changes: ServerConfig) => {
      const { origin } = await startGatewayOf(changes, '--host', '0.0.0.0');
      const hosts = ['site.example', 'evil.example', 'localhost'];
      return Promise.all(hosts.map(async (host) => (await visit(origin, { headers: { host } })).status));
    };
    expect(await statusesOf({})).toEqual([200, 200, 200]);
    expect(await statusesOf({ allowedHosts: ['site.example'] })).toEqual([200, 421, 421]);
  });

  it('resolves the name in --host to a loopback address', async () => {
    const { origin } = await startGateway('--host', 'localhost');
    expect((await visit(origin, { headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await visit(origin)).status).toBe(200);
  });

  it.skipIf(!HAS_IPV6)('treats ::1 as a loopback address', async () => {
    const { origin } = await startGateway('--host', '::1');
    const { port } = new URL(origin);
    const statusBy = async (host: string) => {
      const [response] = (await once(get({ host: '::1', port, path: '/nowhere', headers: { host } }), 'response')) as [
        IncomingMessage,
      ];
      response.resume();
      return response.statusCode;
    };
    expect(await statusBy('evil.example')).toBe(421);
    expect(await statusBy(`[::1]:${port}`)).toBe(404);
  });

  it('applies "chatLimit" and "maxInFlight" from its file', async () => {
    const limits = { chatLimit: { points: 2, durationSeconds: 60 }, maxInFlight: 5 };
    const { origin } = await startGatewayOf(limits as unknown as ServerConfig);
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await visit(origin)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it.each([
    30,
    null,
    { points: 30 },
    { points: 0, durationSeconds: 60 },
    { points: 1.5, durationSeconds: 60 },
    { points: 30, durationSeconds: 60, blockSeconds: 60 },
  ])('rejects a "chatLimit" of %j and shows a valid one', async (chatLimit) => {
    await expect(startGatewayOf({ chatLimit } as unknown as ServerConfig)).rejects.toThrow('"points": 30');
  });

  it.each([
    [[], 'timeout=80'],
    [['--keep-alive-timeout', '620'], 'timeout=620'],
  ])('with the options %j, keeps idle connections open with %s', async (args, expected) => {
    const { origin } = await startGateway(...args);
    const headers = { connection: 'keep-alive' };
    expect((await visit(origin, { headers })).headers['keep-alive']).toBe(expected);
    expect((await visit(origin, { method: 'GET', path: '/healthz', headers })).headers['keep-alive']).toBe(expected);
  });

  it('logs each event as one line of JSON', async () => {
    const { origin, lines } = await startGateway();
    await (await visit(origin)).text();
    expect(lines().map(({ event }) => event)).toEqual(['token', 'upstream', 'request']);
    expect(lines()[2]).toMatchObject({ route: 'chat', status: 200, requestId: expect.any(String) as string });
  });

  it('exits with 0 on SIGTERM', async () => {
    const { origin, stop, status } = await startGateway('--grace', '3');
    stop();
    expect(await status()).toBe(0);
    await expect(visit(origin)).rejects.toThrow('ECONNREFUSED');
  });

  it('returns 503 at /healthz while it closes, ends idle connections, and finishes the running answer', async () => {
    const { origin, upstream, stop, status } = await startGateway();
    upstream.willWait();
    const running = visit(origin);
    const agent = (await upstream.next()).eventStream();
    agent.write('data: {"jsonrpc":"2.0","id":7,"result":{"id":"t"}}\n\n');
    // This probe connected before the close. A closing server accepts no new connections.
    const probe = await RawClient.connect(origin);
    const lost = await RawClient.connect(origin);
    await probe.send('GET http://localhost/healthz?by=balancer HTTP/1.1\r\nHost: localhost\r\n');
    await lost.send('GET /nowhere HTTP/1.1\r\nHost: localhost\r\n');
    await visit(origin, { method: 'GET', path: '/healthz' });
    stop();
    await probe.send('\r\n');
    await lost.send('\r\n');
    expect(await probe.ending()).toMatch(/^HTTP\/1\.1 503 (?=[^]*\r\nconnection: close\r\n)[^]*"closing"/i);
    expect(await lost.ending()).toMatch(/^HTTP\/1\.1 404 (?=[^]*\r\nconnection: close\r\n)/i);
    agent.end();
    expect((await (await running).ending()).clean).toBe(true);
    expect(await status()).toBe(0);
  });

  it.each([
    [['--port', 'http'], '--port must be a whole number from 0 to 65535, not "http"'],
    [['--port', '70000'], '--port must be a whole number'],
    [['--grace', '4000'], '--grace must be a whole number'],
    [['--keep-alive-timeout', '80s'], '--keep-alive-timeout must be a whole number'],
    [['--base', 'api'], '--base must be a path'],
    [['--nonsense'], '--nonsense'],
  ])('rejects the arguments %j', async (args, says) => {
    const { status, complained } = await runCommandLine(['serve', ...args]);
    expect(status).toBe(2);
    expect(complained).toContain(says);
  });

  it('refuses to start on a Unix socket, whose visitors have no addresses', async () => {
    const { status, complained } = await runCommandLine(['serve', '--host', '/run/site.sock']);
    expect(status).toBe(1);
    expect(complained).toMatch(
      /\/run\/site\.sock:8080 cannot be opened \(ENOTFOUND\); choose another --port or --host/,
    );
  });

  it('listens on PORT and HOST unless options override them', async () => {
    const env = { PORT: '0', HOST: 'localhost' };
    const { status, complained } = await runCommandLine(['serve'], { env });
    expect(status).toBe(0);
    expect(complained).toMatch(/^agent-bff serves at http:\/\/localhost:(?!8080)\d+\/api/);
    expect((await runCommandLine(['serve', '--port', 'http'], { env })).status).toBe(2);
    expect(await runCommandLine(['serve'], { env: { PORT: 'tcp://10.0.0.1:80' } })).toMatchObject({
      status: 2,
      complained: 'agent-bff: PORT must be a whole number from 0 to 65535, not "tcp://10.0.0.1:80". Correct PORT.',
    });
  });

  it('warns that no agent is configured', async () => {
    const { status, complained } = await runCommandLine(['serve', '--port', '0']);
    expect(status).toBe(0);
    expect(complained).toContain('A2A_URL');
  });

  it('ignores variables of other programs and warns about misspelt ones', async () => {
    const env = {
      A2A_PORT: 'tcp://10.0.0.1:80',
      SERVICE_ACCOUNT_NAME: 'site',
      PUBLIC_URL: '/',
      SERVICE_API_KYE: 'hunter2',
    };
    const said = await runCommandLine(['serve', '--port', '0'], { env });
    expect(said.status).toBe(0);
    const names = (lines: string) => lines.match(/\b(?:[A-Z0-9]+_)+[A-Z]+(?=:)/g);
    expect(names(said.complained)).toEqual(['PUBLIC_URL', 'SERVICE_API_KYE']);
    expect(names(said.printed)).toEqual(['PUBLIC_URL', 'SERVICE_API_KYE']);
    expect(JSON.stringify(said)).not.toContain('hunter2');
  });

  it('reports that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const env = { A2A_URL: 'https://agent.example/a2a' };
    const { status, complained } = await runCommandLine(['serve', '--port', String(port)], { env });
    expect(status).toBe(1);
    expect(complained).toMatch(/cannot be opened \(EADDRINUSE\); choose another --port/);
  });
});
