import { randomBytes } from 'node:crypto';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import type { Toolkit } from '../../src/composition/toolkit/toolkit-type.js';
import { buildToolkit, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { sessionSurfaceRoute } from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = {
  serviceApiUrl: 'https://platform.example/api',
  serviceApiKey: 'key-of-this-site',
};

/** A Keyv of the site, whose calls fail while it is down. */
function siteKeyv(): Keyv & { isDown: boolean } {
  const entries = new Map<string, string>();
  const keyv = Object.assign(new Keyv(), { isDown: false });
  const call = <T>(run: () => T): Promise<T> =>
    keyv.isDown ? Promise.reject(new Error('down')) : Promise.resolve(run());
  return Object.assign(keyv, {
    get: (key: string) => call(() => entries.get(key)),
    set: (key: string, value: string) => call(() => entries.set(key, value) !== undefined),
    delete: (key: string) => call(() => entries.delete(key)),
  });
}

const RENDER = { path: '/balance/render', body: bytes('{}') };
const JSON_TYPE = { 'content-type': 'application/json' };

describe('toolkits that share a Keyv', () => {
  it('have one listener on it, and none after all are closed', async () => {
    const keyv = siteKeyv();
    const listeners = (): number => keyv.listeners('error').length;
    const before = listeners();
    const toolkits = Array.from({ length: 20 }, () =>
      createToolkit({ ...CONFIG, cacheStore: keyv, cacheKeys: [randomBytes(32).toString('hex')] }),
    );
    const during = listeners() - before;
    await Promise.all(toolkits.map((toolkit) => toolkit.close()));
    expect([during, listeners() - before]).toEqual([1, 0]);
  });

  it('have one listener after 200 changes of the configuration', async () => {
    const keyv = siteKeyv();
    const before = keyv.listeners('error').length;
    let toolkit = buildToolkit({ ...CONFIG, cacheStore: keyv }, {});
    for (let change = 1; change < 200; change += 1) {
      const config = { ...CONFIG, cacheStore: keyv, timeouts: { cacheMs: 20 + (change % 2) } };
      toolkit = buildToolkit(config, {}, toolkit);
    }
    const during = keyv.listeners('error').length - before;
    await toolkit.close();
    expect([during, keyv.listeners('error').length - before]).toEqual([1, 0]);
  });
});

describe('an action that ends after a change of the configuration', () => {
  /** A platform whose renders show the number of its actions; an action waits for `release`. */
  function platform(): { readonly upstream: FakeUpstream; readonly release: () => void; readonly begun: () => number } {
    let [begun, acted, release] = [0, 0, (): void => undefined];
    const released = new Promise<void>((resolve) => (release = resolve));
    const upstream = new FakeUpstream(async ({ path }) => {
      if (path.includes('/actions/')) {
        begun += 1;
        await released;
        acted += 1;
      }
      return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ acted }) };
    });
    return { upstream, release: () => release(), begun: () => begun };
  }

  const cacheKeys = [randomBytes(32).toString('hex')];
  it.each<[string, () => ServerConfig, () => ServerConfig]>([
    ['memory', () => ({}), () => ({ cacheStore: siteKeyv(), cacheKeys })],
    ['a store', () => ({ cacheStore: siteKeyv(), cacheKeys }), () => ({})],
    ['a store without keys', () => ({ cacheStore: siteKeyv() }), () => ({ cacheStore: siteKeyv(), cacheKeys })],
  ])('invalidates renders made after the configuration changed: %s before', async (_where, before, after) => {
    const { upstream, release, begun } = platform();
    const cache = { enabled: true, freshMs: 60_000 };
    const first = buildToolkit({ ...CONFIG, ...before() }, { upstream });
    const acting = sessionSurfaceRoute(first, { cache })(browserRequest({ path: '/balance/actions/add' }));
    await expect.poll(begun).toBe(1);
    const second = buildToolkit({ ...CONFIG, ...after() }, { upstream }, first);
    const show = async (toolkit: Toolkit): Promise<unknown> => {
      const { headers, body } = await sessionSurfaceRoute(toolkit, { cache })(browserRequest(RENDER));
      return [headers['x-cache'], await textOf(body)];
    };
    expect([await show(second), await show(second)]).toEqual([
      ['MISS', '{"acted":0}'],
      ['HIT', '{"acted":0}'],
    ]);
    release();
    expect((await acting).status).toBe(200);
    expect(await show(second)).toEqual(['MISS', '{"acted":1}']);
    // Back to what was configured at first.
    const third = buildToolkit({ ...CONFIG, ...before() }, { upstream }, second);
    expect(await show(third)).toEqual(['MISS', '{"acted":1}']);
    await third.close();
  });
});

describe('toolkits that share a port of the site', () => {
  it('still reach the platform after one of them is closed', async () => {
    const upstream = new FakeUpstream(() =>
      upstream.closed
        ? { kind: 'failure', reason: 'unreachable', log: 'closed' }
        : { status: 200, headers: JSON_TYPE, body: '{}' },
    );
    const [one, other] = [createToolkit(CONFIG, { upstream }), createToolkit(CONFIG, { upstream })];
    await one.close({ graceMs: 0 });
    const response = await sessionSurfaceRoute(other)(browserRequest(RENDER));
    expect([response.status, upstream.closed]).toEqual([200, false]);
  });

  it('end their own calls when they are closed', async () => {
    const signals: AbortSignal[] = [];
    const upstream = new FakeUpstream(({ signal }) => {
      signals.push(signal);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ kind: 'failure', reason: 'aborted', log: '' }));
      });
    });
    const [one, other] = [createToolkit(CONFIG, { upstream }), createToolkit(CONFIG, { upstream })];
    const running = [one, other].map((toolkit) => sessionSurfaceRoute(toolkit)(browserRequest(RENDER)));
    await expect.poll(() => signals.length).toBe(2);
    await one.close({ graceMs: 0 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await other.close({ graceMs: 0 });
    await Promise.allSettled(running);
  });
});

describe('the health of a toolkit', () => {
  it('names an unreachable store and stays ready, since every request is served', async () => {
    const keyv = siteKeyv();
    const upstream = new FakeUpstream(() => ({ status: 200, headers: JSON_TYPE, body: '{}' }));
    const toolkit = createToolkit({ ...CONFIG, cacheStore: keyv }, { upstream, telemetry: new RecordingTelemetry() });
    const widgets = sessionSurfaceRoute(toolkit, { cache: { enabled: true } });
    await widgets(browserRequest(RENDER));
    expect(await toolkit.health()).toMatchObject({ status: 'ready', checks: { store: { status: 'pass' } } });
    keyv.isDown = true;
    for (let visit = 0; visit < 3; visit += 1) expect((await widgets(browserRequest(RENDER))).status).toBe(200);
    expect(await toolkit.health()).toMatchObject({
      status: 'ready',
      checks: { store: { status: 'fail', block: 'configureServer', fields: ['cacheStore'] } },
    });
  });
});
