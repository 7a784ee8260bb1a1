import { describe, expect, it } from 'vitest';
import { FakeClock, FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { rebind, resolve } from '../../src/composition/toolkit/container.js';
import { createToolkit, toolkitContainer } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { chatRoute } from '../support/toolkit-routes.js';

const config = (name: string) => ({ a2aUrl: `https://${name}.example/a2a`, serviceApiKey: `key-of-${name}` });

describe('two configurations in one process', () => {
  it('each call their own agent with their own credential', async () => {
    const sites = ['one', 'two'].map((name) => {
      const upstream = new FakeUpstream();
      return { name, upstream, handler: chatRoute(createToolkit(config(name), { upstream })) };
    });
    for (const { handler } of [...sites, ...sites]) expect((await handler(browserRequest())).status).toBe(200);
    for (const { name, upstream } of sites) {
      expect(upstream.requests.map(({ origin, headers }) => [origin, headers['x-api-key']])).toEqual([
        [`https://${name}.example`, `key-of-${name}`],
        [`https://${name}.example`, `key-of-${name}`],
      ]);
    }
  });
});

describe('a part bound under the name of an existing one', () => {
  it('replaces it everywhere it is used', async () => {
    const container = toolkitContainer(resolveConfig(config('one')));
    const [clock, upstream] = [new FakeClock(), new FakeUpstream()];
    rebind(container, 'clock', clock);
    rebind(container, 'upstream', upstream);
    const handlers = resolve(container, 'handlers');
    expect((await handlers.chat({})(browserRequest())).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
    expect(resolve(container, 'clock')).toBe(clock);
  });
});
