import { randomBytes } from 'node:crypto';
import { createToolkit, type ServerConfig, type Toolkit } from 'agent-bff';
import { FakeCacheStore, FakeClock, FakeIdentityProvider, FakeUpstream } from 'agent-bff/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { browserRequest } from '../adapters/web/browser-request.js';
import { PushStream } from '../adapters/web/push-stream.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { chatRoute, serviceSurfaceRoute } from '../support/toolkit-routes.js';

const CONFIG: ServerConfig = { a2aUrl: 'https://agent.example/a2a', serviceAuthStrategy: 'okta' };

let okta: FakeIdentityProvider;
let upstream: FakeUpstream;
let clock: FakeClock;
beforeEach(() => {
  okta = new FakeIdentityProvider('okta', 'okta');
  upstream = new FakeUpstream();
  clock = new FakeClock();
});

const toolkitOf = (config: ServerConfig = CONFIG): Toolkit =>
  createToolkit(config, { upstream, clock, random: () => 0, identityProviders: { okta } });

const down = (): void => {
  okta.answer = () => ({
    kind: 'failure',
    reason: 'unavailable',
    block: 'okta',
    fields: ['secret-field'],
    advice: 'Look at https://inside.example',
    log: 'ECONNREFUSED 10.0.0.1',
  });
};

describe('the health of a toolkit', () => {
  it('is ready with a credential, which is then cached', async () => {
    const toolkit = toolkitOf();
    expect(await toolkit.health()).toEqual({
      status: 'ready',
      checks: { configuration: { status: 'pass' }, credential: { status: 'pass' }, store: { status: 'skipped' } },
      inFlight: 0,
      openStreams: 0,
    });
    for (let count = 0; count < 20; count += 1) await toolkit.health();
    await toolkit.authHeaders();
    expect(okta.issued).toBe(1);
    expect(upstream.requests).toEqual([]);
  });

  it('is degraded without a credential, and calls the provider no more often than a request would', async () => {
    down();
    const toolkit = toolkitOf();
    for (let count = 0; count < 20; count += 1) {
      expect(await toolkit.health()).toMatchObject({
        status: 'degraded',
        checks: {
          configuration: { status: 'pass' },
          credential: { status: 'fail', code: 'identity_provider_unavailable', block: 'okta' },
        },
      });
    }
    expect(okta.issued).toBe(1);
    okta.answer = undefined;
    clock.advance(60_000);
    expect((await toolkit.health()).status).toBe('ready');
  });

  it('is degraded while the provider hangs, without waiting for its timeout', async () => {
    okta.answer = () => new Promise(() => undefined);
    const toolkit = toolkitOf({ ...CONFIG, timeouts: { identityProviderMs: 60_000 } });
    expect(await toolkit.health()).toMatchObject({
      status: 'degraded',
      checks: { credential: { status: 'fail', code: 'identity_provider_unavailable' } },
    });
  });

  it('names only the block and the fields of a failure', async () => {
    down();
    expect((await toolkitOf().health()).checks.credential).toEqual({
      status: 'fail',
      code: 'identity_provider_unavailable',
      block: 'okta',
      fields: ['secret-field'],
    });
  });

  it('names the missing addresses', async () => {
    const { a2aUrl: _address, ...config } = CONFIG;
    expect(await toolkitOf(config).health()).toMatchObject({
      status: 'degraded',
      checks: {
        configuration: {
          status: 'fail',
          code: 'service_auth_failed',
          block: 'configureServer',
          fields: ['a2aUrl', 'serviceApiUrl'],
        },
      },
    });
  });

  it('names the store while it is not called, and stays ready', async () => {
    const cacheKeys = [randomBytes(32).toString('hex')];
    const working = toolkitOf({ ...CONFIG, cacheStore: new FakeCacheStore(clock), cacheKeys });
    expect((await working.health()).checks.store).toEqual({ status: 'pass' });
    const fail = (): Promise<never> => Promise.reject(new Error('down'));
    const failing = toolkitOf({
      ...CONFIG,
      serviceApiUrl: 'https://platform.example',
      cacheStore: { get: fail, set: fail, delete: fail },
      cacheKeys,
      telemetry: 'silent',
    });
    const cache = { enabled: true };
    for (const path of ['/one/render', '/two/render', '/three/render'])
      await serviceSurfaceRoute(failing, { cache })(browserRequest({ path, body: null }));
    expect(await failing.health()).toMatchObject({
      status: 'ready',
      checks: { store: { status: 'fail', block: 'configureServer', fields: ['cacheStore'] } },
    });
  });

  it.each<readonly [string, ServerConfig, string]>([
    ['with an API key alone', { serviceApiKey: 'k' }, 'pass'],
    ['with a provider', { authProvider: 'okta' as never }, 'pass'],
    ['with a platform alone', { a2aUrl: '', serviceApiUrl: 'https://platform.example' }, 'skipped'],
    ['for signed-in users only', {}, 'skipped'],
  ])('is ready for a site %s', async (_what, config, credential) => {
    const health = await toolkitOf({ a2aUrl: 'https://agent.example', ...config }).health();
    expect(health).toMatchObject({ status: 'ready', checks: { credential: { status: credential } } });
  });

  it('is degraded with a service account that is not complete', async () => {
    const toolkit = toolkitOf({ a2aUrl: 'https://agent.example', serviceAccount: { serviceAccountId: 'sa-1' } });
    expect(await toolkit.health()).toMatchObject({
      status: 'degraded',
      checks: { credential: { status: 'fail' } },
    });
  });

  it('counts requests and open streams', async () => {
    const toolkit = toolkitOf();
    const handler = chatRoute(toolkit);
    const body = new PushStream();
    upstream.willAnswer(() => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }));
    const response = await handler(browserRequest());
    expect(await toolkit.health()).toMatchObject({ inFlight: 0, openStreams: 1 });
    body.end();
    await textOf(response.body);
    expect(await toolkit.health()).toMatchObject({ inFlight: 0, openStreams: 0 });
  });

  it('is closing as soon as close() is called, without asking the provider', async () => {
    const toolkit = toolkitOf();
    const closing = toolkit.close();
    expect(await toolkit.health()).toMatchObject({ status: 'closing', checks: { credential: { status: 'skipped' } } });
    await closing;
    expect(okta.issued).toBe(0);
  });
});
