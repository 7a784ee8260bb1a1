import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FakeClock, FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { sessionSurfaceRoute } from '../support/toolkit-routes.js';

/**
 * The entries that an earlier build wrote for one render. If this test fails, the format has changed, and a fleet with
 * processes of both releases would not see each other's actions: raise the number in `STORE_PREFIX`, replace these
 * entries, and name the change in CHANGELOG.md.
 */
const ENTRIES = JSON.parse(readFileSync(new URL('stored-format.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, string>
>;

/** One process with this store. */
function start(
  entries: Map<string, string>,
  cacheKeys: readonly string[] = [],
): {
  readonly upstream: FakeUpstream;
  readonly post: (path: string) => Promise<unknown>;
} {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const upstream = new FakeUpstream(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"surface":{"id":"balance","name":"the balance"}}',
  }));
  const cacheStore = {
    get: (key: string) => Promise.resolve(entries.get(key)),
    set: (key: string, value: string) => Promise.resolve(void entries.set(key, value)),
    delete: (key: string) => Promise.resolve(void entries.delete(key)),
  };
  const config = { serviceApiUrl: 'https://platform.example/api', serviceApiKey: 'site-key', cacheStore, cacheKeys };
  const toolkit = createToolkit({ ...config, telemetry: 'silent' }, { clock, upstream });
  const auth = { getToken: () => Promise.resolve({ kind: 'token', accessToken: 'token', subject: 'ada' } as const) };
  const route = sessionSurfaceRoute(toolkit, { auth, cache: { enabled: true } });
  const post = async (path: string): Promise<unknown> => {
    const { status, headers, body } = await route(browserRequest({ path, body: bytes('{}') }));
    await textOf(body);
    return [status, headers['x-cache']];
  };
  return { upstream, post };
}

it('reads a render that an earlier build stored, and invalidates it by an action', async () => {
  const { post, upstream } = start(new Map(Object.entries(ENTRIES)));
  expect([await post('/balance/render'), upstream.requests.length]).toEqual([[200, 'HIT'], 0]);
  await post('/balance/actions/add');
  expect(await post('/balance/render')).toEqual([200, 'MISS']);
});

it('has the same keys in the store as an earlier build', async () => {
  const entries = new Map<string, string>();
  await start(entries).post('/balance/render');
  expect([...entries.keys()].sort()).toEqual(Object.keys(ENTRIES).sort());
});

it('seals renders, and no generations, under the same keys', async () => {
  const entries = new Map<string, string>();
  await start(entries, [randomBytes(32).toString('hex')]).post('/balance/render');
  expect([...entries.keys()].sort()).toEqual(Object.keys(ENTRIES).sort());
  const sealed = [...entries].filter(([, value]) => value.startsWith('v2 '));
  expect(sealed.map(([key]) => key.slice(0, 'agent-bff:2:render:'.length))).toEqual(['agent-bff:2:render:']);
});
