import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig } from 'agent-bff';
import express, { type ErrorRequestHandler } from 'express';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Platform, startPlatform } from '../../examples/platform/start-platform.js';
import { runCommandLine } from '../support/command-line.js';
import { REDIS_SERVER } from '../support/redis-server.js';
import { startServer } from '../support/redis-topology.mjs';
import { newServiceAccountKey } from '../support/service-account.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { temporaryFolder } from '../support/temporary-folder.js';

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
}

async function doctor(config: ServerConfig, { args = [], env = {} }: Run = {}) {
  const path = join(folder, `config-${crypto.randomUUID()}.json`);
  writeFileSync(path, JSON.stringify(config));
  const shown: string[] = [];
  const terminal = { env, progress: (line: string) => shown.push(line) };
  const { status, printed, complained } = await runCommandLine(['doctor', '--config', path, ...args], terminal);
  const text = printed + complained;
  for (const secret of [...keys.privateKey.split('\n').filter((line) => line.length > 40), 'eyJ', 'hunter2']) {
    expect(text).not.toContain(secret);
  }
  return { status, printed: text, shown };
}

describe('agent-bff doctor', () => {
  it('prints the agent, the project, the brand and that the clocks agree, and shows each check while it runs', async () => {
    const { status, printed, shown } = await doctor(site());
    expect(printed).toMatch(
      /✓ agent card +"Demo agent", protocol .*1\.0.*, streams; found at http:\S+agent-card\.json/,
    );
    expect(printed).toMatch(/✓ project +demo-project$/m);
    expect(printed).toMatch(/✓ brand +a style sheet of \d+ bytes/);
    expect(printed).toContain("✓ platform clock    agrees with the platform's");
    expect(printed).toMatch(/^All is well\.$/m);
    expect(status).toBe(0);
    expect(shown).toEqual(['… credential', '… cache store', '… agent card', '… agent', '… project', '… brand', '']);
  });

  it('renders a surface, reports how an answer streamed, and in production wants a public address', async () => {
    const args = ['--surface', 'poll', '--message', 'one two three four five'];
    const { status, printed } = await doctor(site(), { args, env: { NODE_ENV: 'production' } });
    expect(printed).toMatch(/✓ surface +rendered in \d+ ms/);
    expect(printed).toMatch(
      /✓ streaming +first event after \d+ ms, \d+ events, largest gap \d+ ms; they arrived one by one/,
    );
    expect(printed).toMatch(/! public address +is not set, .*\n {4}fix: Set "publicUrl"/);
    expect(printed).toContain('\nAll is well. 1 to review');
    expect(status).toBe(0);
  });

  it('prints a failure with its fix, and the same finding as JSON', async () => {
    const args = ['--surface', 'nonsense'];
    const { status, printed } = await doctor(site(), { args });
    expect(printed).toMatch(/✗ surface +the platform responded with status 404 after \d+ ms\n {4}fix: Pass an id .*\./);
    expect(printed).toContain('\n1 to fix.');
    const json = await doctor(site(), { args: ['--json', ...args] });
    const place = { block: 'command line', fields: ['--surface'] };
    expect(JSON.parse(json.printed)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ check: 'surface', result: 'failed', ...place }),
      ]) as unknown,
    });
    expect([status, json.status]).toEqual([1, 1]);
  });

  const answerError: ErrorRequestHandler = (error: { status: number }, _request, response, _next) => {
    response.sendStatus(error.status);
  };
  it.each([
    ['! error page        shows visitors a stack trace for an invalid body', undefined],
    ['✓ error page        shows no stack trace (status 400 for an invalid body)', answerError],
  ])('sends an invalid body to the running site and reports what visitors see: %s', async (line, handler) => {
    vi.stubEnv('NODE_ENV', 'development');
    const app = express().use(express.json());
    if (handler !== undefined) app.use(handler);
    const { url, close } = await listeningSite(app);
    onTestFinished(close);
    expect((await doctor(site({ publicUrl: url }))).printed).toContain(line);
  });

  it.skipIf(REDIS_SERVER === undefined)('leaves no entry in a shared cache, and names a wrong password', async () => {
    const redis = await startServer();
    onTestFinished(() => redis.close());
    const cacheKeys = [randomBytes(32).toString('base64')];
    const { printed } = await doctor(site({ cacheStore: redis.url, cacheKeys, timeouts: { cacheMs: 1_000 } }));
    expect(printed).toMatch(/✓ cache store +a call takes \d+\.\d ms/);
    expect(printed).toContain('✓ cache keys        1 configured; tokens are sealed and shared');
    expect(await redis.cli('dbsize')).toBe('0');
    await redis.cli('config', 'set', 'requirepass', 'another');
    const wrong = await doctor(site({ cacheStore: redis.url.replace('//', '//:hunter2-hunter2@') }));
    expect(wrong.printed).toMatch(/✗ cache store +it cannot be used: .*WRONGPASS .*\n {4}fix: .*"cacheStore"/);
    expect(wrong.printed.match(/✗/g)).toHaveLength(1);
    expect(wrong.status).toBe(1);
  });
});
