import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createToolkit, type ServerConfig, type ToolkitPorts } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { RecordingTelemetry } from 'agent-bff/testing';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { nodeHttpSite } from '../site/frameworks/node-http.js';
import { RecordingUpstream, refusedOrigin } from '../support/recording-upstream.js';
import { watchTerminal } from '../support/terminal.js';
import { visit } from '../support/visitor.js';

const KEY = 'the-long-api-key';

async function startSite(config: ServerConfig = {}, ports: ToolkitPorts = {}) {
  const terminal = watchTerminal();
  const upstream = await RecordingUpstream.start();
  const toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent`,
      serviceApiUrl: `${upstream.origin}/api`,
      serviceApiKey: KEY,
      conversations: 'open',
      ...config,
    },
    ports,
  );
  const site = await nodeHttpSite('a site').start({ toolkit });
  onTestFinished(async () => {
    await site.close();
    await upstream.close();
    await toolkit.close();
  });
  return { terminal, toolkit, upstream, url: site.url };
}

describe('the terminal of a site without telemetry', () => {
  it('shows one line with the id of each visitor, and of ten at most, when 20 visitors find the agent unreachable', async () => {
    const { terminal, url } = await startSite({ a2aUrl: `${await refusedOrigin()}/agent` });
    const answers = await Promise.all(Array.from({ length: 20 }, () => visit(url)));
    const ids = await Promise.all(answers.map(async (reply) => /"requestId":"([^"]+)"/.exec(await reply.text())?.[1]));
    const line =
      /^agent-bff: chat: The agent cannot be reached\. .*"a2aUrl" in configureServer\. \(ECONNREFUSED.*; request (\S+)\)$/;
    const shown = terminal.map((text) => line.exec(text)?.[1]);
    expect(new Set(shown).size).toBe(10);
    expect(ids).toEqual(expect.arrayContaining(shown));
  });

  it('shows the place where configGetHeaders threw, without the visitor’s cookie', async () => {
    const { terminal, toolkit } = await startSite();
    const configGetHeaders = () => {
      throw new Error('no session in s%3Asession-of-a-visitor.signature');
    };
    const site = await listeningSite(createNodeHandler({ toolkit, a2a: { configGetHeaders } }));
    onTestFinished(() => site.close());
    const headers = { cookie: 'sid=s%3Asession-of-a-visitor.signature' };
    await (await visit(site.url, { method: 'GET', path: '/api/a2a/config', body: null, headers })).text();
    expect(terminal.filter((line) => line.includes('getHeaders'))).toHaveLength(1);
    expect(terminal.join()).toMatch(/it threw Error at .*terminal\.test\.ts/);
    expect(terminal.join()).not.toContain('session-of-a-visitor');
  });

  it.each<[string, ServerConfig]>([
    ['is silent', { telemetry: 'silent' }],
    ['has telemetry', { telemetry: new RecordingTelemetry() }],
    ['has an empty list of telemetries', { telemetry: [] }],
  ])('shows no line when the site %s', async (_where, config) => {
    const { terminal, url } = await startSite({ a2aUrl: '', ...config });
    await (await visit(url)).text();
    expect(terminal).toEqual([]);
  });
});

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const run = promisify(execFile);

/** A site that is not configured, and three visitors, who print the id they read. */
const PROGRAM = `
  import { createServer } from 'node:http';
  import { createNodeHandler } from 'agent-bff/node';
  const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const response = await fetch('http://127.0.0.1:' + server.address().port + '/api/a2a', { method: 'POST' });
      console.log(/"requestId":"([^"]+)"/.exec(await response.text())[1]);
    }
    server.close();
    server.closeAllConnections();
    console.log('it went on');
  });`;
const NOT_CONFIGURED = /^agent-bff: chat: The server is not configured\. Call configureServer .* \(request (\S+)\)$/;

/** The ids in the lines of standard error; a line of another form is returned whole. */
function idsIn(stderr: string): string {
  const lines = stderr.trimEnd().split('\n');
  return lines.map((line) => `${NOT_CONFIGURED.exec(line)?.[1] ?? line}\n`).join('');
}

describe('a process that reports to its terminal', { timeout: 30_000 }, () => {
  const env = { ...process.env, NODE_ENV: 'production' };
  const flags = ['--input-type=module', '--eval'];

  beforeAll(async () => {
    await run(process.execPath, [fromRoot('scripts/build.mjs'), '--if-needed']);
  }, 120_000);

  it('prints in production that the site is not configured, with the id of each visitor, and exits when its work is done', async () => {
    const { stdout, stderr } = await run(process.execPath, [...flags, PROGRAM], { cwd: fromRoot('.'), env });
    expect(stdout).toBe(`${idsIn(stderr)}it went on\n`);
  });

  it('names no toolkit after a request for a path without a route, because there is only one', async () => {
    const program = `
      import { createServer } from 'node:http';
      import { configureServer } from 'agent-bff';
      import { createNodeHandler } from 'agent-bff/node';
      configureServer({ a2aUrl: 'http://127.0.0.1:9/a2a', conversations: 'open' });
      const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', async () => {
        const site = 'http://127.0.0.1:' + server.address().port;
        await (await fetch(site)).text();
        await (await fetch(site + '/api/a2a/config')).text();
        process.exit(0);
      });`;
    const { stderr } = await run(process.execPath, [...flags, program], { cwd: fromRoot('.'), env });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^agent-bff: There is no such route\. .* \(GET \/; request \S+\)$/),
      expect.stringMatching(/^agent-bff: config: The server has no credential .* \(request \S+\)$/),
    ]);
  });

  it('prints the same lines from a worker thread', async () => {
    const program = `
      import { Worker } from 'node:worker_threads';
      new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(PROGRAM)}
        .replace('agent-bff/node', import.meta.resolve('agent-bff/node')))));`;
    const { stdout, stderr } = await run(process.execPath, [...flags, program], { cwd: fromRoot('.'), env });
    expect(stdout).toBe(`${idsIn(stderr)}it went on\n`);
  });

  it('survives a closed stderr', async () => {
    const child = spawn(process.execPath, [...flags, PROGRAM], {
      cwd: fromRoot('.'),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.destroy();
    const printed: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
    const [status] = (await once(child, 'close')) as [number];
    expect([status, Buffer.concat(printed).toString()]).toEqual([
      0,
      expect.stringMatching(/^(?:\S+-\S+\n){3}it went on\n$/),
    ]);
  });

  it("survives a standard error of the site's own that throws", async () => {
    const throwing = `process.stderr.write = () => { throw new Error('the disk is full'); };${PROGRAM}`;
    const { stdout } = await run(process.execPath, [...flags, throwing], { cwd: fromRoot('.'), env });
    expect(stdout).toMatch(/^(?:\S+-\S+\n){3}it went on\n$/);
  });

  it('keeps serving as a gateway after the reader of its log has left', async () => {
    const gateway = spawn(process.execPath, [fromRoot('dist/composition/cli.js'), 'serve', '--port', '0'], {
      env: { ...env, A2A_URL: `${await refusedOrigin()}/a2a`, SERVICE_AUTH_STRATEGY: 'none' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void gateway.kill('SIGKILL'));
    const [line] = (await once(gateway.stderr, 'data')) as [Buffer];
    const [url = ''] = /http:\S+(?=\/api;)/.exec(String(line)) ?? [];
    gateway.stdout.destroy();
    gateway.stderr.destroy();
    for (const status of [502, 502, 502]) {
      const response = await visit(url);
      await response.text();
      expect(response.status).toBe(status);
    }
    gateway.kill('SIGTERM');
    expect(await once(gateway, 'exit')).toEqual([0, null]);
  });
});
