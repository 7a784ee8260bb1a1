import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { Keyv } from 'keyv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, FakeUpstream, RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { createShared, createToolkit, type Shared, type Toolkit } from '../../src/composition/index.js';
import { processMemory } from '../../src/composition/toolkit/process-wide.js';
import { browserRequest, bytes } from '../adapters/web/browser-request.js';
import { listening } from '../support/listening.mjs';
import { sessionSurfaceRoute } from '../support/toolkit-routes.js';

const RENDER = { path: '/balance/render', body: bytes('{}') };
const CACHE = { enabled: true, freshMs: 60_000 };

/** A platform that counts connections, those that are open, and renders; a render whose body is `"slow"` waits for `release`. */
const platform = { connections: 0, open: 0, renders: 0, url: '', release: (): void => undefined };
const released = new Promise<void>((resolve) => (platform.release = resolve));
const server = createServer((request, response) => {
  void request.toArray().then(async (chunks) => {
    platform.renders += 1;
    if (Buffer.concat(chunks as Buffer[]).includes('slow')) await released;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ of: request.url }));
  });
}).on('connection', (socket) => {
  platform.connections += 1;
  platform.open += 1;
  socket.on('close', () => (platform.open -= 1));
});

beforeAll(async () => {
  platform.url = await listening(server);
});
afterAll(() => {
  server.close().closeAllConnections();
});

const tenant = (name: string, shared: Shared): Toolkit =>
  createToolkit({ name, serviceApiUrl: platform.url, serviceApiKey: `key-of-${name}` }, { shared });
const show = async (toolkit: Toolkit, body = '{}'): Promise<number> => {
  const route = sessionSurfaceRoute(toolkit, { cache: CACHE });
  return (await route(browserRequest({ ...RENDER, body: bytes(body) }))).status;
};

describe('toolkits that share connections', () => {
  it('visit one platform over one of them, one tenant after the other', async () => {
    const shared = createShared();
    const toolkits = Array.from({ length: 20 }, (_, index) => tenant(`tenant${String(index)}`, shared));
    const before = platform.connections;
    for (const toolkit of toolkits) expect(await show(toolkit)).toBe(200);
    expect(platform.connections - before).toBe(1);
    await Promise.all(toolkits.map((toolkit) => toolkit.close()));
    await shared.close();
  });

  it('are served while one of them is closed in the middle of its requests', async () => {
    const shared = createShared();
    const [one, other] = [tenant('one', shared), tenant('other', shared)];
    const before = platform.renders;
    const running = [one, other].map((toolkit) => show(toolkit, '{"slow":true}').catch(() => 0));
    await expect.poll(() => platform.renders - before).toBe(2);
    await one.close({ graceMs: 0 });
    expect(await show(other)).toBe(200);
    platform.release();
    const [ofClosed, ofOpen] = await Promise.all(running);
    expect([ofClosed === 200, ofOpen]).toEqual([false, 200]);
    await other.close();
    await shared.close();
  });
});

describe('toolkits that share a store', () => {
  it('use one Keyv with one listener, and see their own renders only', async () => {
    const telemetry = new RecordingTelemetry();
    const keyv = new Keyv();
    const before = keyv.listeners('error').length;
    const shared = createShared({ cacheStore: keyv, telemetry });
    const cacheKeys = [randomBytes(32).toString('hex')];
    const toolkits = ['one', 'two'].map((name) =>
      createToolkit({ name, cacheKeys, serviceApiUrl: platform.url, serviceApiKey: name }, { shared }),
    );
    const renders = platform.renders;
    for (const toolkit of [...toolkits, ...toolkits]) expect(await show(toolkit)).toBe(200);
    expect([platform.renders - renders, keyv.listeners('error').length - before]).toEqual([2, 1]);
    // It would throw without a listener.
    keyv.emit('error', new Error('down'));
    await toolkits[0]?.close();
    expect(keyv.listeners('error').length - before).toBe(1);
    await toolkits[1]?.close();
    await shared.close();
    expect(keyv.listeners('error').length - before).toBe(0);
  });
});

describe('toolkits that share memory', () => {
  it('drop the least recently used render of any of them when it is full', async () => {
    const shared = createShared({ memoryBytes: 30_000 });
    const [quiet, busy] = [tenant('quiet', shared), tenant('busy', shared)];
    await show(quiet);
    for (let number = 0; number < 100; number += 1) await show(busy, `{"number":${String(number)}}`);
    const before = platform.renders;
    await show(busy, '{"number":99}');
    expect(platform.renders - before).toBe(0);
    await show(busy, '{"number":0}');
    await show(quiet);
    expect(platform.renders - before).toBe(2);
    await Promise.all([quiet.close(), busy.close()]);
    await shared.close();
  });

  it('without createShared too, and leave it empty when they are closed', async () => {
    const { data, tokens } = processMemory();
    const before = [data.heldBytes, tokens.heldBytes];
    const upstream = new FakeUpstream(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }));
    const identityProviders = {
      own: {
        block: 'own',
        identity: () => ({ principal: 'own', proof: '' }),
        issue: (now: number) =>
          Promise.resolve({ kind: 'token', token: { value: 't', expiresAt: now + 60_000 } } as const),
      },
    };
    const config = { serviceApiUrl: 'https://platform.example', serviceApiKey: 'key', authProvider: 'own' as never };
    const toolkit = createToolkit(config, { upstream, identityProviders, clock: new FakeClock() });
    await show(toolkit);
    await toolkit.authHeaders();
    await toolkit.projectId();
    const during = [data.heldBytes, tokens.heldBytes];
    await toolkit.close();
    expect(during.map((held, index) => held > (before[index] ?? 0))).toEqual([true, true]);
    expect([data.heldBytes, tokens.heldBytes]).toEqual(before);
  });
});

describe('the result of createShared', () => {
  it.each([
    [5, '5 toolkits still use it: tenant1, tenant2, tenant3, tenant4, tenant5.'],
    [6, '6 toolkits still use it: tenant1, tenant2, tenant3, tenant4, tenant5 and 1 more.'],
  ])('refuses to close while %i toolkits use it, naming at most five', async (open, detail) => {
    const shared = createShared();
    const toolkits = Array.from({ length: open + 1 }, (_, index) => tenant(`tenant${String(index)}`, shared));
    await toolkits[0]?.close();
    await expect(shared.close()).rejects.toMatchObject({
      code: 'configuration_invalid',
      detail,
      hint: 'Await toolkit.close() of each before shared.close().',
      block: 'createShared',
      fields: ['shared'],
    });
    expect(await show(toolkits[1] as Toolkit)).toBe(200);
    await Promise.all(toolkits.map((toolkit) => toolkit.close()));
    await shared.close();
    await shared.close();
  });

  it('closes the connections to the platform', async () => {
    const shared = createShared();
    const one = tenant('one', shared);
    expect(await show(one)).toBe(200);
    await one.close();
    expect(platform.open).toBeGreaterThan(0);
    await shared.close();
    // Sooner than idle connections close by themselves.
    await expect.poll(() => platform.open, { timeout: 1_000 }).toBe(0);
  });

  it('does not show the password of its store', () => {
    const shared = createShared({ cacheStore: 'redis://user:hunter2@127.0.0.1:1', telemetry: 'silent' });
    const print = inspect(shared, { depth: 12, showHidden: true }) + JSON.stringify(shared);
    expect(print).not.toContain('hunter2');
    return shared.close();
  });

  it.each<[object, string, RegExp]>([
    [{ cacheStore: 'redis://127.0.0.1' }, 'cacheStore', /The field "cacheStore" has no effect with "shared"/],
    [{ timeouts: { cacheMs: 20 } }, 'timeouts.cacheMs', /The field "timeouts.cacheMs" has no effect/],
    [{ timeouts: { connectMs: 20 } }, 'timeouts.connectMs', /The field "timeouts.connectMs" has no effect/],
  ])('rejects toolkits that set a field of its own (%j)', async (config, field, detail) => {
    const shared = createShared();
    expect(() => createToolkit(config, { shared })).toThrow(
      expect.objectContaining({
        code: 'configuration_invalid',
        fields: [field],
        detail: expect.stringMatching(detail) as string,
        hint: 'Set it in createShared instead.',
      }) as Error,
    );
    await shared.close();
  });

  it('rejects toolkits after it was closed', async () => {
    const shared = createShared();
    await shared.close();
    expect(() => createToolkit({}, { shared })).toThrow(
      'The object in "shared" is closed. Make another one with createShared.',
    );
  });
});
