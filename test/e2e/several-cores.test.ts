import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { OLD } from '../support/conversation-people.js';
import { blocks, documents, ROOT } from '../support/documents.js';
import { freePort } from '../support/free-port.js';
import { type IdpA, startIdpA } from '../support/identity-provider/index.js';
import { type RecordedRequest, RecordingUpstream } from '../support/recording-upstream.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { startServer } from '../support/redis-topology.mjs';
import { type Reply, visit } from '../support/visitor.js';

const WORKERS = 3;
/** On a busy machine, a process starts slowly. */
const START_MS = 60_000;

/** The program under "Several cores of one machine" with three workers, which name themselves, at a port of the test. */
function program(port: number): string {
  const page = documents('docs').find(({ file }) => file === 'docs/deployment.md');
  const found = blocks(page?.text ?? '').find(({ code }) => code.includes('cluster.fork()'));
  return (
    String(found?.code)
      .replace('availableParallelism();', `${String(WORKERS)};`)
      .replace(
        'const app = express();',
        "$& app.use((_, response, next) => { response.set('x-worker', String(cluster.worker.id)); next(); });",
      )
      .replace('listen(3000)', `listen(${String(port)}, '127.0.0.1')`)
      // A busy machine must not look like a store that is slow.
      .replace('configFromEnv(process.env)', '{ ...configFromEnv(process.env), timeouts: { cacheMs: 5_000 } }')
  );
}

/** The conversation of a message, as the agent sees it. */
function contextOf(request: RecordedRequest | undefined): string | undefined {
  const { params } = JSON.parse(String(request?.body)) as { params: { message: { contextId?: string } } };
  return params.message.contextId;
}

describe('the processes of node:cluster, as docs/deployment.md starts them', { timeout: 2 * START_MS }, () => {
  let idp: IdpA;
  let agent: RecordingUpstream;

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-needed']);
    idp = await startIdpA();
  }, 120_000);
  beforeEach(async () => {
    idp.tokenRequests.clear();
    agent = await RecordingUpstream.start();
    onTestFinished(() => agent.close());
  });
  afterAll(() => idp.close());

  /** Starts the site; resolves with its address once it responds. */
  async function start(env: NodeJS.ProcessEnv = {}): Promise<string> {
    // Inside the package, so that its name resolves to it.
    mkdirSync(join(ROOT, 'temp'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'temp', 'cores-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await freePort('127.0.0.1');
    writeFileSync(join(folder, 'server.mjs'), program(port));
    writeFileSync(join(folder, 'ca.pem'), idp.ca);
    const site = spawn(process.execPath, [join(folder, 'server.mjs')], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        A2A_URL: `${agent.origin}/a2a`,
        AUTH_PROVIDER: 'idp_a',
        SERVICE_AUTH_STRATEGY: 'resource_owner_password',
        IDP_A_DOMAIN: idp.domain,
        IDP_A_CLIENT_ID: idp.client.id,
        IDP_A_CLIENT_SECRET: idp.client.secret,
        IDP_A_AUDIENCE: idp.audience,
        IDP_A_SERVICE_USER_USERNAME: idp.user.username,
        IDP_A_SERVICE_USER_PASSWORD: idp.user.password,
        ...env,
      },
    });
    onTestFinished(async () => {
      const exit = once(site, 'exit');
      site.kill();
      await exit;
    });
    return `http://127.0.0.1:${String(port)}`;
  }

  /** Sends a message over a connection of its own. */
  function say(url: string, more: object = {}, headers: Record<string, string> = {}): Promise<Reply> {
    const params = { message: OLD.message('Hello', more) };
    return visit(url, { headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: OLD.send, params }) });
  }

  /** Sends messages until each process has answered one; all responses have status 200. */
  async function everywhere(url: string, more: object = {}, headers: Record<string, string> = {}): Promise<void> {
    const [workers, statuses] = [new Set<unknown>(), new Set<number>()];
    const visited = async (): Promise<number> => {
      const reply = await say(url, more, headers).catch(() => undefined);
      // Not listening yet.
      if (reply === undefined) return 0;
      await reply.text();
      statuses.add(reply.status);
      return workers.add(reply.headers['x-worker']).size;
    };
    await expect.poll(visited, { timeout: START_MS }).toBe(WORKERS);
    expect([...statuses]).toEqual([200]);
  }

  const tokens = (): number =>
    new Set(agent.requests.map(({ fields }) => fields.find(([name]) => name === 'authorization')?.[1])).size;

  it('each have a token, and continue the conversations that another began', async () => {
    const url = await start();
    await everywhere(url);
    expect([tokens(), idp.tokenRequests.count]).toEqual([WORKERS, WORKERS]);
    const first = await say(url);
    await first.text();
    const cookie = String(first.headers['set-cookie']).split(';', 1)[0] ?? '';
    const contextId = contextOf(agent.requests.at(-1));
    const before = agent.requests.length;
    await everywhere(url, { contextId }, { cookie });
    const contexts = agent.requests.slice(before).map((request) => contextOf(request));
    expect(new Set(contexts)).toEqual(new Set([contextId]));
  });

  it.skipIf(REDIS_SERVER === undefined)('have one token for all with a shared store', async () => {
    const redis = await startServer();
    onTestFinished(() => redis.close());
    const url = await start({ CACHE_URL: redis.url, CACHE_KEYS: randomBytes(32).toString('hex') });
    // Without its connection, a process asks for itself.
    const connections = async (): Promise<number> => {
      const list = await redis.cli('CLIENT', 'LIST', 'TYPE', 'normal');
      return list.trim().split('\n').length - 1;
    };
    await expect.poll(connections, { timeout: START_MS }).toBe(WORKERS);
    await everywhere(url);
    expect([tokens(), idp.tokenRequests.count]).toEqual([1, 1]);
  });
});
