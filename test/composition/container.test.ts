import { describe, expect, it } from 'vitest';
import { FakeClock, FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import { buildToolkit, builtParts, createToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { TelemetryEvent } from '../../src/ports/telemetry.js';
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

describe('the name of a toolkit', () => {
  const failing = async (given: object): Promise<readonly unknown[]> => {
    const events: TelemetryEvent[] = [];
    const telemetry = { emit: (event: TelemetryEvent) => events.push(event) };
    const upstream = new FakeUpstream(() => ({ kind: 'failure', reason: 'reset', log: 'reset' }));
    await chatRoute(createToolkit({ ...config('one'), ...given }, { upstream, telemetry }))(browserRequest());
    expect(events.length).toBeGreaterThan(1);
    return [...new Set(events.map(({ toolkit }) => toolkit))];
  };

  it('is in each of its events', async () => {
    expect(await failing({ name: 'acme' })).toEqual(['acme']);
  });

  it('is by default a digest that differs with the agent, and not with secrets', async () => {
    const [own] = await failing({});
    expect(own).toMatch(/^[0-9a-f]{8}$/);
    expect(await failing({ serviceApiKey: 'newer-key' })).toEqual([own]);
    expect(await failing(config('two'))).not.toEqual([own]);
  });
});

it('a toolkit that replaces another reports under its own name', async () => {
  const events: TelemetryEvent[] = [];
  const telemetry = { emit: (event: TelemetryEvent) => events.push(event) };
  const upstream = new FakeUpstream();
  const before = buildToolkit({ ...config('one'), name: 'before', telemetry }, { upstream });
  const after = buildToolkit({ ...config('one'), name: 'after', telemetry }, { upstream }, before);
  await chatRoute(after)(browserRequest());
  expect(events.at(-1)?.toolkit).toBe('after');
});

describe('the ports of a toolkit', () => {
  const source = (name: string) => ({
    config: resolveConfig(config(name)),
    previous: undefined,
    sessions: new Set<never>(),
    shared: undefined,
  });

  it('replace the parts of that toolkit everywhere they are used, and those of no other', async () => {
    const [clock, upstream] = [new FakeClock(), new FakeUpstream()];
    const { handlers, memory } = builtParts(source('one'), { clock, upstream });
    expect((await handlers.chat({})(browserRequest())).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
    const map = memory.data.map();
    map.set('key', 'value', 1, clock.now() + 1);
    expect(map.get('key')).toBe('value');
    clock.advance(1);
    expect(map.get('key')).toBeUndefined();
  });

  it('may be omitted, and each toolkit still has parts of its own', () => {
    const [one, two] = [builtParts(source('one'), {}), builtParts(source('two'), {})];
    const same = Object.keys(one).filter((name) => one[name as 'gate'] === two[name as 'gate']);
    // Without listeners.
    expect(same).toEqual(['listeners']);
  });
});
