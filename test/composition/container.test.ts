import { describe, expect, it } from 'vitest';
import { FakeClock, FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { type Parts, rebind, resolve } from '../../src/composition/toolkit/container.js';
import { createToolkit, toolkitContainer } from '../../src/composition/toolkit/toolkit.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { chatRoute } from '../support/toolkit-routes.js';

const config = (name: string) => ({ a2aUrl: `https://${name}.example/a2a`, serviceApiKey: `key-of-${name}` });

/** A part without its line here does not compile. */
const EVERY_PART = Object.keys({
  clock: true,
  random: true,
  listeners: true,
  telemetry: true,
  upstreamSource: true,
  connections: true,
  upstream: true,
  errors: true,
  stores: true,
  fetch: true,
  provider: true,
  exchange: true,
  credentials: true,
  routeCredentials: true,
  call: true,
  styles: true,
  directory: true,
  chatConfig: true,
  forwarder: true,
  httpJson: true,
  surfaces: true,
  conversations: true,
  gate: true,
  handlers: true,
} satisfies Record<keyof Parts, true>) as (keyof Parts)[];

describe('two configurations in one process', () => {
  it('each reach their own agent with their own credential', async () => {
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

  it('share no part but the clock and the random numbers of the process', () => {
    const [one, two] = ['one', 'two'].map((name) => toolkitContainer(resolveConfig(config(name))));
    const shared = EVERY_PART.filter((name) => {
      const part = one && resolve(one, name);
      return part !== undefined && part === (two && resolve(two, name));
    });
    expect(shared).toEqual(['clock', 'random']);
  });
});

describe('a part that is bound under the name of another', () => {
  it('takes the place of the usual one in everything made of it', async () => {
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
