import { randomBytes } from 'node:crypto';
import { createToolkit, type Toolkit } from 'agent-bff';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { RecordingUpstream } from '../support/recording-upstream.js';
import { startServer, type StandaloneServer } from '../support/redis-topology.mjs';
import { REDIS_WAYS } from '../support/redis-ways.js';
import { surfaceRoute } from '../support/toolkit-routes.js';

/** Long enough that no render here expires. */
const FRESH_MS = 600_000;
/** Long enough that a slow machine does not look like a store that is down. */
const PATIENT = { cacheMs: 5_000 };
const cacheKeys = [randomBytes(32).toString('hex')];

// Each toolkit has a connection and memory of its own, as in a process of its own. The ways differ only in the client of the
// store; `rented-stores.test.ts` and `redis-cache-store.test.ts` cover its failures.
describe.each(REDIS_WAYS)('two toolkits that share a real Redis through $title', ({ isInstalled, connect }) => {
  let redis: StandaloneServer;
  let upstream: RecordingUpstream;
  /** The number of actions, which each render shows. */
  let state = 0;

  beforeAll(async () => {
    if (!isInstalled) return;
    redis = await startServer();
    upstream = await RecordingUpstream.start();
  });
  afterAll(async () => {
    await redis?.close();
    await upstream?.close();
  });
  beforeEach(async () => {
    if (!isInstalled) return;
    await redis.cli('flushall');
    state = 0;
    upstream.willAnswer((exchange) => {
      if (exchange.request.target.includes('/actions/')) state += 1;
      exchange.json(200, { surface: { id: 'balance', name: 'the balance' }, content: `state ${String(state)}` });
    });
  });

  async function startSite() {
    const { keyv: cacheStore, disconnect } = connect(redis.url);
    const provider = new FakeIdentityProvider('own', 'own');
    const toolkit = createToolkit(
      {
        serviceApiUrl: `${upstream.origin}/api`,
        serviceApiKey: 'site-key',
        serviceAuthStrategy: 'own',
        timeouts: PATIENT,
        cacheKeys,
        cacheStore,
      },
      { identityProviders: { own: provider } },
    );
    onTestFinished(async () => {
      await toolkit.close();
      await disconnect();
    });
    return { toolkit, provider };
  }

  async function startTwo(): Promise<readonly [Toolkit, Toolkit]> {
    const [one, other] = [await startSite(), await startSite()];
    return [one.toolkit, other.toolkit];
  }

  async function post(toolkit: Toolkit, path: string) {
    const cache = { enabled: true, freshMs: FRESH_MS, maxAgeMs: FRESH_MS };
    const { headers, body } = await surfaceRoute(toolkit, { cache })(browserRequest({ path }));
    const { content } = JSON.parse(await textOf(body)) as { content: unknown };
    return [headers['x-cache'], content];
  }
  const render = (toolkit: Toolkit) => post(toolkit, '/balance/render');
  const act = (toolkit: Toolkit) => post(toolkit, '/balance/actions/increment');

  it.skipIf(!isInstalled)('a render of one is a hit in the other, and is unreadable in the store', async () => {
    const [one, other] = await startTwo();
    expect([await render(one), await render(other)]).toEqual([
      ['MISS', 'state 0'],
      ['HIT', 'state 0'],
    ]);
    await expectUnreadable(['state 0', 'balance', 'site-key']);
  });

  it.skipIf(!isInstalled)('an action in either evicts the render in the other', async () => {
    const both = await startTwo();
    for (const [acting, showing] of [both, [both[1], both[0]]] as const) {
      await render(acting);
      expect((await render(showing))[0]).toBe('HIT');
      await act(acting);
      const content = `state ${String(state)}`;
      expect([await render(showing), await render(acting)]).toEqual([
        ['MISS', content],
        ['HIT', content],
      ]);
    }
  });

  it.skipIf(!isInstalled)('the token of one serves the other, and is unreadable in the store', async () => {
    const [one, other] = [await startSite(), await startSite()];
    for (const { toolkit } of [one, other]) {
      expect(await toolkit.authHeaders()).toMatchObject({ authorization: 'Bearer own-token-1' });
      await expect.poll(() => redis.cli('keys', '*:token:*')).not.toBe('');
    }
    expect([one.provider.issued, other.provider.issued]).toEqual([1, 0]);
    await expectUnreadable(['own-token-1', 'site-key']);
  });

  /** None of these texts is in a key or a value of the store, plainly or in base64. */
  async function expectUnreadable(texts: readonly string[]): Promise<void> {
    const keys = (await redis.cli('keys', '*')).split('\n');
    const values = await Promise.all(keys.map((key) => redis.cli('get', key)));
    const stored = [...keys, ...values].join('\n');
    expect(stored.length).toBeGreaterThan(100);
    for (const text of texts)
      for (const spelling of [text, Buffer.from(text).toString('base64').replace(/=+$/, '')])
        expect(stored).not.toContain(spelling);
  }
});
