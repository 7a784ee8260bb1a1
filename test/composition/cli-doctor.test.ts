import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig, ToolkitPorts } from 'agent-bff';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import { runCommandLine } from '../support/command-line.js';
import { fixesOf } from '../support/doctor-fixes.js';
import { answering } from '../support/first-hour.js';
import { type Answer, refusedOrigin } from '../support/recording-upstream.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { startServer } from '../support/redis-topology.mjs';
import { newServiceAccountKey } from '../support/service-account.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

const folder = temporaryFolder('doctor');
let platform: Platform;
let keys: Awaited<ReturnType<typeof newServiceAccountKey>>;

beforeAll(async () => {
  keys = await newServiceAccountKey();
  platform = await startPlatform({ wordMs: 20 });
  platform.registerKey('key-1', keys.publicKey, 'site-1');
});
afterAll(async () => {
  await platform.close();
});

/** A configuration that the demo platform accepts. */
const site = (changes: ServerConfig = {}): ServerConfig => ({
  a2aUrl: platform.a2aUrl,
  serviceApiUrl: platform.serviceApiUrl,
  serviceAccount: {
    serviceAccountId: 'site-1',
    keyId: 'key-1',
    privateKeyPem: keys.privateKey,
    audience: platform.serviceApiUrl,
  },
  ...changes,
});

interface Run {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly ports?: ToolkitPorts;
}

async function doctor(config: ServerConfig, { args = [], env = {}, ports = {} }: Run = {}) {
  const path = join(folder, `config-${crypto.randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(config));
  const shown: string[] = [];
  const terminal = { env, progress: (line: string) => shown.push(line) };
  const { status, printed, complained } = await runCommandLine(['doctor', '--config', path, ...args], terminal, ports);
  const text = printed + complained;
  for (const secret of [...keys.privateKey.split('\n').filter((line) => line.length > 40), 'eyJ', 'hunter2']) {
    expect(text).not.toContain(secret);
  }
  return { status, printed: text, shown };
}

const CARD = { name: 'Agent', url: 'https://agent.example', protocolVersion: '0.3.0', preferredTransport: 'JSONRPC' };

/** An agent with a card and one response to every message. */
const agent = (answer: Answer): Promise<string> =>
  answering((exchange) => {
    if (exchange.request.method === 'POST') answer(exchange);
    else exchange.json(200, { ...CARD, capabilities: { streaming: true } });
  });

/** A proxy in front of the platform that buffers each response. */
async function bufferingProxy(): Promise<string> {
  const { url, close } = await listeningSite(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const answer = await fetch(platform.url + (incoming.url ?? ''), {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
        ['host', 'connection', 'content-length'].includes(name) ? [] : [[name, String(value)]],
      ),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(body);
  });
  onTestFinished(close);
  return url;
}

describe('agent-bff doctor with a working platform', () => {
  it('prints the agent, the project, the brand and that the clocks agree', async () => {
    const { status, printed } = await doctor(site());
    expect(printed).toMatch(
      /✓ agent card +"Demo agent", protocol .*1\.0.*, streams; found at http:\S+agent-card\.json/,
    );
    expect(printed).toMatch(/✓ project +demo-project$/m);
    expect(printed).toMatch(/✓ brand +a style sheet of \d+ bytes/);
    expect(printed).toContain("✓ platform clock    agrees with the platform's");
    expect(printed).toContain('All is well.');
    expect(status).toBe(0);
  });

  it('asks for the card of version 1, because an agent of both versions returns an older one otherwise', async () => {
    const a2aUrl = await answering((exchange) => {
      const isNew = exchange.values('a2a-version')[0] === '1.0';
      exchange.json(exchange.request.method === 'POST' ? 401 : 200, {
        ...CARD,
        ...(isNew && { protocolVersion: '1.0' }),
      });
    });
    expect((await doctor({ a2aUrl, serviceApiKey: 'hunter2' })).printed).toContain('"Agent", protocol 1.0, ');
  });

  it.each(['poll', 'name:lunch-poll'])('renders a surface when asked: %s', async (surface) => {
    const { status, printed } = await doctor(site(), { args: ['--surface', surface] });
    expect(printed).toMatch(/✓ surface +rendered in \d+ ms/);
    expect(status).toBe(0);
  });

  it('sends a message when asked and reports how the answer streamed', async () => {
    const { status, printed } = await doctor(site(), { args: ['--message', 'one two three four five'] });
    expect(printed).toMatch(
      /✓ streaming +first event after \d+ ms, \d+ events, largest gap \d+ ms; they arrived one by one/,
    );
    expect(status).toBe(0);
  });

  it('does not send a message unless asked', async () => {
    const before = platform.requests.length;
    await doctor(site());
    // The agent gets a request for a task that does not exist, with the credential and without it.
    const posts = platform.requests.slice(before).filter(({ method }) => method === 'POST');
    expect(posts.map(({ path }) => path)).toEqual(['/a2a', '/a2a']);
  });

  const rpcError = '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}';
  const open = (): Promise<string> =>
    agent((exchange) => exchange.head(200, { 'content-type': 'application/json' }).end(rpcError));

  it('reports that it could not try the credential of an agent that responds the same without it', async () => {
    const config: ServerConfig = {
      a2aUrl: await open(),
      serviceAuthStrategy: 'static_token',
      serviceToken: 'hunter2',
    };
    const { status, printed } = await doctor(config);
    expect(printed).toContain('! agent             the credential was not tried: the response is the same without it');
    expect(printed).toContain('npx agent-bff doctor --message');
    expect(printed).toContain('Nothing to fix, but the credential was not tried.');
    expect(printed).not.toContain('All is well.');
    expect(status).toBe(0);
  });

  it('passes for an open agent, without warnings about fields that a chat does not need', async () => {
    const { status, printed } = await doctor({ a2aUrl: await open(), serviceAuthStrategy: 'none' });
    expect(printed).toContain('✓ strategy          none: calls to the agent carry no credential');
    expect(printed).toContain('✓ agent             responds, and needs no credential');
    expect(printed).not.toMatch(/^[!✗]/m);
    expect(printed).toContain('All is well.');
    expect(status).toBe(0);
  });

  it.each<[number, ServerConfig, string]>([
    [401, { serviceAuthStrategy: 'none' }, 'configureServer: serviceAuthStrategy'],
    [401, {}, 'serviceToken'],
  ])('fails for an agent with a public card that responds %i to messages: %j', async (code, changes, fix) => {
    const a2aUrl = await agent((exchange) => exchange.head(code, { 'content-type': 'text/plain' }).end('no'));
    const { status, printed } = await doctor({
      a2aUrl,
      serviceAuthStrategy: 'static_token',
      serviceToken: 'hunter2',
      ...changes,
    });
    expect(printed).toContain('✗ agent ');
    expect(printed.match(/✗/g)).toHaveLength(1);
    expect(printed).toContain(fix.split(': ').at(-1));
    expect(status).toBe(1);
  });

  it('shows each check while it runs, then erases it', async () => {
    const { shown } = await doctor(site());
    expect(shown).toEqual(['… credential', '… cache store', '… agent card', '… agent', '… project', '… brand', '']);
  });

  it.each([
    ['in its text', []],
    ['in its JSON', ['--json']],
  ])('escapes control characters in the names of the agent and the platform %s', async (_reader, args) => {
    const origin = await answering((exchange) => {
      const card = { ...CARD, name: 'Agent \u202etxt.exe', protocolVersion: '0.3.0\u2066', capabilities: {} };
      const body = { ...card, id: 'project\u001b[2J\u009b\u2067' };
      exchange.json(exchange.request.target.includes('brand') ? 404 : 200, body);
    });
    const { printed } = await doctor(site({ a2aUrl: origin, serviceApiUrl: origin }), { args });
    expect(printed).toContain('Agent ');
    // oxlint-disable-next-line no-control-regex
    expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });

  it.each([
    ['a page at every address', 200, 'text/html'],
    ['no route for the chat', 404, 'application/json'],
    ['a login page', 302, 'text/plain'],
  ])('says that the running site has %s', async (_site, status, type) => {
    const url = await answering((exchange) => {
      exchange.head(status, { 'content-type': type, location: '/login' }).end('{}');
    });
    const { printed } = await doctor(site({ publicUrl: url }));
    expect(printed).toContain(`! chat address      ${url}/api/a2a responded with status ${String(status)} and ${type}`);
    expect(printed).toContain('fix: Mount the routes at /api, before a page that serves all other paths.');
    expect(printed).toMatch(/^All is well\. \d to review/m);
  });

  it('does not mention the address when the chat is there', async () => {
    const url = await answering((exchange) => {
      exchange.json(400, { jsonrpc: '2.0', error: {} });
    });
    expect((await doctor(site({ publicUrl: url }))).printed).not.toContain('chat address');
  });

  it('skips the error page check when the site is not running', async () => {
    const { status, printed } = await doctor(site({ publicUrl: await refusedOrigin() }));
    expect(printed).toMatch(/- error page +http\S+ does not respond; try again when the site runs$/m);
    expect(status).toBe(0);
  });

  it('prints the same findings as JSON', async () => {
    const { status, printed } = await doctor(site(), { args: ['--json', '--surface', 'nonsense'] });
    const told = JSON.parse(printed) as { ok: boolean; findings: { check: string }[] };
    expect(told.ok).toBe(false);
    expect(told.findings).toContainEqual(
      expect.objectContaining({ check: 'surface', result: 'failed', block: 'command line', fields: ['--surface'] }),
    );
    expect(status).toBe(1);
  });
});

describe('agent-bff doctor compares the address with the card', () => {
  /** An agent at `/a2a` with this card, which wants the API key `hunter2`. */
  const agentWith = (card: object) =>
    answering((exchange) => {
      const { method, target } = exchange.request;
      const url = `http://${exchange.values('host').join('')}/a2a`;
      if (method === 'GET') exchange.json(200, { ...CARD, url, ...card });
      else if (target === '/shop') exchange.head(200, { 'content-type': 'text/html' }).end('<h1>Shop</h1>');
      else if (target === '/json') exchange.json(200, {});
      else if (target !== '/a2a') exchange.head(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
      else if (exchange.values('x-api-key')[0] !== 'hunter2') exchange.json(401, { error: 'no' });
      else exchange.json(200, { jsonrpc: '2.0', id: 1, error: { code: -32_001 } });
    });

  it.each<[string, object, string, RegExp, RegExp]>([
    ['the same address', {}, '/a2a', /^✓ agent +accepts the credential/m, /^All is well\.$/m],
    [
      'the origin alone',
      {},
      '',
      /^✗ agent +The agent was not found at its address\..*\n {4}fix: Set "a2aUrl" in configureServer to http:\S+\/a2a, which the card names\.$/m,
      /^1 to fix\.$/m,
    ],
    [
      'the address of a page',
      {},
      '/shop',
      /^✗ agent +The address of the agent leads to a web page\..*\n {4}fix: Set "a2aUrl" in configureServer to http:\S+\/a2a,/m,
      /^1 to fix\.$/m,
    ],
    [
      'the address of something else',
      {},
      '/json',
      /^✗ agent +responds with status 200, but not in JSON-RPC\n {4}fix: Set "a2aUrl" in configureServer to http:\S+\/a2a,/m,
      /^1 to fix\.$/m,
    ],
    [
      'the address of another binding',
      { additionalInterfaces: [{ url: '/rest', transport: 'HTTP+JSON' }] },
      '/rest',
      /^✗ agent +.* Its card says HTTP\+JSON for this address\.\n {4}fix: Set "a2aUrl" in configureServer to http:\S+\/a2a,/m,
      /^1 to fix\.$/m,
    ],
    [
      'an agent behind a gateway with another host',
      { url: 'http://agent.internal:8080/a2a' },
      '/a2a',
      /^✓ agent +accepts the credential/m,
      /^All is well\.$/m,
    ],
    [
      'a working address that the card does not name',
      { url: 'https://agent.example/elsewhere' },
      '/a2a',
      /^! agent address +the agent responds, but its card names https:\/\/agent\.example\/elsewhere\n {4}fix: Set "a2aUrl"/m,
      /^All is well\. \d to review/m,
    ],
  ])('%s', async (_title, card, path, line, conclusion) => {
    const { printed } = await doctor({ a2aUrl: (await agentWith(card)) + path, serviceApiKey: 'hunter2' });
    expect(printed).toMatch(line);
    expect(printed).toMatch(conclusion);
  });
});

describe('agent-bff doctor with an unusable platform', () => {
  const redirect: Answer = (exchange) => exchange.head(301, { location: 'https://elsewhere.example/hunter2' }).end();

  it.each<[string, () => Promise<ServerConfig>, readonly string[], string]>([
    [
      'an agent that does not stream',
      async () => site({ a2aUrl: await agent((exchange) => exchange.json(200, { error: { code: -32_601 } })) }),
      ['--message', 'hello'],
      'configureServer: a2aUrl',
    ],
    [
      'an agent whose stream breaks',
      async () => site({ a2aUrl: await agent((exchange) => exchange.eventStream().write('data: {}\n\n').reset()) }),
      ['--message', 'hello'],
      'configureServer: a2aUrl',
    ],
    [
      'a platform address that refuses connections',
      async () => site({ serviceApiUrl: await refusedOrigin(), serviceProjectId: 'p' }),
      [],
      'configureServer: serviceApiUrl',
    ],
    [
      'a platform that redirects',
      async () => site({ serviceApiUrl: await answering(redirect), serviceProjectId: 'p' }),
      [],
      'configureServer: serviceApiUrl, upstream.paths.brand',
    ],
    [
      'a platform that rejects the audience',
      async () => site({ serviceAccount: { ...site().serviceAccount, audience: 'https://other.example' } }),
      ['--surface', 'poll'],
      'serviceAccount: serviceAccountId, keyId, privateKeyPem, privateKeyPath, audience',
    ],
    ['an unknown surface', async () => site(), ['--surface', 'nonsense'], 'command line: --surface'],
    [
      'a surface for which the platform returns an HTML page',
      async () =>
        site({
          serviceApiUrl: await answering((exchange) =>
            exchange.head(exchange.request.method === 'POST' ? 400 : 404, { 'content-type': 'text/html' }).end('<h1>'),
          ),
          serviceProjectId: 'p',
        }),
      ['--surface', 'nonsense'],
      'command line: --surface',
    ],
  ])('names the block and the fields to fix for %s', async (_title, config, args, fix) => {
    const { status, printed } = await doctor(await config(), { args });
    expect(fixesOf(printed, fix), printed).toHaveLength(1);
    // One fault is one line.
    expect(printed.match(/✗/g)).toHaveLength(1);
    expect(status).toBe(1);
  });

  it('skips checks that depend on a failed one', async () => {
    const { printed } = await doctor(site({ a2aUrl: await refusedOrigin() }), { args: ['--message', 'hello'] });
    expect(printed).toMatch(/- streaming +skipped: fix the above first/);
    const refused = site({ serviceApiUrl: await refusedOrigin() });
    const { printed: other } = await doctor(refused, { args: ['--surface', 'poll'] });
    expect(other).toMatch(/- surface +skipped: fix the above first/);
  });

  describe.skipIf(REDIS_SERVER === undefined)('with a shared cache', () => {
    it('passes and reports how long a call takes', async () => {
      const redis = await startServer();
      onTestFinished(() => redis.close());
      const { status, printed } = await doctor(site({ cacheStore: redis.url, timeouts: { cacheMs: 1_000 } }));
      expect(printed).toMatch(/✓ cache store +a call takes \d+\.\d ms/);
      expect(printed).toContain(
        '! cache keys        none, so tokens stay in each process\n    fix: Set "cacheKeys" in configureServer',
      );
      expect(status).toBe(0);
      const sealed = await doctor(site({ cacheStore: redis.url, cacheKeys: [randomBytes(32).toString('base64')] }));
      expect(sealed.printed).toContain('✓ cache keys        1 configured; tokens are sealed and shared');
      expect(await redis.cli('dbsize')).toBe('0');
    });

    it('fails when the password is wrong', async () => {
      const redis = await startServer();
      onTestFinished(() => redis.close());
      await redis.cli('config', 'set', 'requirepass', 'another');
      const { status, printed } = await doctor(site({ cacheStore: redis.url.replace('//', '//:hunter2-hunter2@') }));
      expect(printed).toMatch(
        /✗ cache store +it cannot be used: .*WRONGPASS .*\n {4}fix: .*"cacheStore" in configureServer/,
      );
      expect(printed.match(/✗/g)).toHaveLength(1);
      expect(status).toBe(1);
    });
  });
});

describe('agent-bff doctor warns and exits with 0', () => {
  it('when a proxy buffers the events of an answer', async () => {
    const a2aUrl = `${await bufferingProxy()}/a2a`;
    const { status, printed } = await doctor(site({ a2aUrl }), { args: ['--message', 'one two three four five'] });
    expect(printed).toMatch(
      /! streaming +.*all at once: a proxy .*\n {4}fix: Check the agent and the proxies in front of it.*"a2aUrl"/,
    );
    expect(status).toBe(0);
  });

  it('when a site in production has no public address', async () => {
    const production = { env: { NODE_ENV: 'production' } };
    const { status, printed } = await doctor(site(), production);
    expect(printed).toMatch(
      /! public address +is not set, .*\n {4}fix: Set "publicUrl" in configureServer to .*https:\/\/site\.example/,
    );
    expect(status).toBe(0);
    const named = site({ publicUrl: 'https://shop.example', allowedHosts: ['shop.example'] });
    const { printed: other } = await doctor(named, production);
    expect(other).toMatch(/✓ public address +https:\/\/shop\.example$/m);
    // The doctor's own requests do not use the site's host name.
    expect(other).toContain('All is well.');
  });

  it('not about a site under development without its address, but says that the site was not checked', async () => {
    const { status, printed } = await doctor(site());
    expect(printed).not.toContain('public address');
    expect(printed).toMatch(/^- site +not checked: "publicUrl" is not set \(PUBLIC_URL\)$/m);
    expect(status).toBe(0);
  });

  it('not about open conversations, which it only mentions', async () => {
    const { status, printed } = await doctor(site());
    expect([status, printed]).toEqual([
      0,
      expect.stringMatching(/✓ conversations +open, unless a route sets .*"visitor"/),
    ]);
    expect(printed).toContain('All is well.');
    const { status: healthy, printed: bound } = await doctor(site({ conversations: 'visitor' }));
    expect(bound).toMatch(/✓ conversations +belong to their visitors$/m);
    expect([healthy, bound]).toEqual([0, expect.stringContaining('All is well.')]);
  });

  it('when the card is not at its configured address', async () => {
    const { status, printed } = await doctor(site({ agentCardUrl: `${platform.url}/nowhere/agent-card.json` }));
    expect(printed).toMatch(
      /! agent card +"Demo agent".*not at the configured address\n {4}fix: Set "agentCardUrl" in configureServer to http/,
    );
    expect(status).toBe(0);
  });
});
