import { beforeAll, describe, expect, it } from 'vitest';
import { FakeIdentityProvider, FakeUpstream } from '../../src/adapters/fakes/fakes.js';
import * as root from '../../src/composition/index.js';
import * as next from '../../src/composition/next.js';
import { createNodeHandler } from '../../src/composition/node.js';
import { createWebHandler } from '../../src/composition/web.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { CONFIG, everyFactory, INVALID, refusal, SERVICE, session, site, toolkit } from './route-factories.js';
import { chatRoute, sessionSurfaceRoute, surfaceRoute } from '../support/toolkit-routes.js';

beforeAll(() => {
  root.configureServer(CONFIG);
});

describe.each(everyFactory)('$maker', (factory) => {
  const { maker, names, fewest, conflicts = [] } = factory;
  const taken = names.includes('toolkit') ? { toolkit, ...fewest } : fewest;
  const checked = names.filter((name) => name !== 'params');

  it('accepts its options and ignores undefined and empty strings', async () => {
    const call = async (options: unknown): Promise<void> => {
      await (factory.make as (options: unknown) => unknown)(options);
    };
    const optional = names.filter((name) => !Object.hasOwn(taken, name));
    for (const absent of [undefined, '']) {
      const options = { ...Object.fromEntries(optional.map((name) => [name, absent])), ...taken };
      await expect(call(options)).resolves.toBeUndefined();
    }
    if (Object.keys(fewest).length === 0) await expect(call(undefined)).resolves.toBeUndefined();
  });

  it('rejects an unknown option and lists the known ones', async () => {
    const error = await refusal(factory, { ...taken, nonsenseOfNobody: 'marker' });
    expect(error).toMatchObject({
      detail: `Unknown option "nonsenseOfNobody" of ${maker}.`,
      block: maker,
      fields: ['nonsenseOfNobody'],
    });
    const known = /^Known options: (.*)\.$/.exec(error.hint ?? '')?.[1]?.split(', ') ?? [];
    expect(known.toSorted()).toEqual(names.toSorted());
  });

  it.each(names)('suggests "%s" when it is misspelt', async (name) => {
    for (const misspelt of [`${name}s`, name.slice(1)]) {
      expect(await refusal(factory, { ...taken, [misspelt]: undefined })).toMatchObject({
        detail: `Unknown option "${misspelt}" of ${maker}.`,
        hint: `Did you mean "${name}"?`,
        block: maker,
        fields: [misspelt],
      });
    }
  });

  it.each(checked)('rejects an invalid "%s" without quoting it', async (name) => {
    const values = INVALID[name] ?? [];
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      const error = await refusal(factory, { ...taken, [name]: value });
      expect(error).toMatchObject({
        detail: `Invalid value for "${name}" of ${maker}.`,
        hint: expect.stringMatching(/^(Set it to|Known values:) .*\.$/) as string,
        block: maker,
        fields: [name],
      });
      expect(error.message).not.toContain('marker');
    }
  });

  it.each(Object.keys(fewest))('rejects a call without "%s"', async (name) => {
    for (const absent of [undefined, '']) {
      expect(await refusal(factory, { ...taken, [name]: absent })).toMatchObject({
        detail: `Missing option "${name}" of ${maker}.`,
        block: maker,
        fields: [name],
      });
    }
  });

  it.each(conflicts.map(([options, fields]) => ({ options, fields })))(
    'rejects conflicting options: $fields',
    async ({ options, fields }) => {
      const error = await refusal(factory, { ...taken, ...options });
      expect(error).toMatchObject({ block: maker, fields });
      for (const name of fields) expect(error.message).toContain(`"${name}"`);
      expect(error.detail).toContain(` of ${maker}.`);
    },
  );

  it('rejects options that are not an object literal', async () => {
    class Settings {}
    for (const options of [null, [], 'marker', '', 7, true, () => undefined, new Map(), new Settings()]) {
      expect(await refusal(factory, options)).toMatchObject({
        detail: `Invalid value for "options" of ${maker}.`,
        block: maker,
      });
    }
  });

  it('names the option for a toolkit that is passed in place of the options', async () => {
    expect(await refusal(factory, site)).toMatchObject({
      detail: `Invalid value for "options" of ${maker}.`,
      hint: 'Pass a toolkit as { toolkit }.',
      block: maker,
    });
  });
});

describe.each([
  { maker: 'createNodeHandler', make: createNodeHandler },
  { maker: 'createWebHandler', make: createWebHandler },
])('nested options of $maker', ({ maker, make: call }) => {
  const factory = { maker, make: call, names: [] };

  it.each([
    [{ a2a: { stratgy: SERVICE } }, 'Unknown option "a2a.stratgy"', 'Did you mean "a2a.strategy"?', ['a2a.stratgy']],
    [
      { a2a: { strategy: 'okta' } },
      'Invalid value for "a2a.strategy"',
      'Known values: service_account',
      ['a2a.strategy'],
    ],
    [
      { a2a: { strategy: SERVICE, getSessionToken: session } },
      'Conflicting options "a2a.strategy" and "a2a.getSessionToken"',
      'Keep one of them',
      ['a2a.strategy', 'a2a.getSessionToken'],
    ],
    [
      { surfaces: { cache: { fresMs: 1 } } },
      'Unknown option "surfaces.cache.fresMs"',
      'Did you mean "surfaces.cache.freshMs"?',
      ['surfaces.cache.fresMs'],
    ],
    [
      { surfaces: { audience: 'api' } },
      'Missing option "surfaces.auth"',
      '"surfaces.audience" needs it',
      ['surfaces.auth', 'surfaces.audience'],
    ],
    [
      { surfaces: { cache: { freshMs: 5_000 } } },
      'Missing option "surfaces.cache.enabled"',
      '"surfaces.cache.freshMs" needs it',
      ['surfaces.cache.enabled', 'surfaces.cache.freshMs'],
    ],
    [{ basePath: 'api' }, 'Invalid value for "basePath"', 'Set it to a path that starts with "/".', ['basePath']],
    [{ service: {} }, 'Missing option "service.auth"', 'Set it to', ['service.auth']],
  ])('are named by their path in errors: %o', async (options, detail, hint, fields) => {
    expect(await refusal(factory, { toolkit, ...options })).toMatchObject({
      detail: `${detail} of ${maker}.`,
      hint: expect.stringContaining(hint) as string,
      block: maker,
      fields,
    });
  });
});

it.each<[string, (toolkit: root.Toolkit) => Promise<Response>]>([
  ['createHandlers', (own) => next.createHandlers({ toolkit: own }).GET(new Request(`${SITE}/config`))],
  ['handleA2AConfigWebGET', (own) => next.handleA2AConfigWebGET(new Request(`${SITE}/config`), { toolkit: own })],
  ['handleA2AWebPOST', (own) => next.handleA2AWebPOST(message(), { toolkit: own, params: {} })],
  ['createWebHandler', (own) => createWebHandler({ toolkit: own })(message())],
])('%s serves the chat at /api/a2a with the toolkit of its options', async (_name, visit) => {
  const upstream = new FakeUpstream();
  expect((await visit(root.createToolkit(CONFIG, { upstream }))).status).toBe(200);
  expect(upstream.requests).not.toEqual([]);
});

const SITE = 'https://site.example/api/a2a';
const message = (): Request =>
  new Request(SITE, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}',
  });

describe('a strategy', () => {
  const okta = root.createToolkit({}, { identityProviders: { okta: new FakeIdentityProvider('okta') } });

  it("can be a custom provider of the route's toolkit", () => {
    expect(() => next.createA2AProxyHandlerWithServiceAuth({ toolkit: okta, strategy: 'okta' })).not.toThrow();
    expect(() => createWebHandler({ toolkit: okta, a2a: { strategy: 'okta' } })).not.toThrow();
    expect(() => chatRoute(okta, { strategy: 'okta' })).not.toThrow();
  });
});

describe('requireSession without auth', () => {
  it.each<[string, (toolkit: root.Toolkit) => Promise<{ readonly status: number; readonly body: unknown }>]>([
    ['createSurfaceHandler', (own) => sessionSurfaceRoute(own, { requireSession: true })(RENDER)],
    ['createServiceSurfaceRouter', (own) => surfaceRoute(own, { requireSession: true, auth: undefined })(RENDER)],
  ])('returns 401 session_required without calling the platform: %s', async (_name, visit) => {
    const upstream = new FakeUpstream();
    const response = await visit(root.createToolkit(CONFIG, { upstream }));
    expect(response.status).toBe(401);
    expect(JSON.parse(String(response.body))).toMatchObject({ code: 'session_required' });
    expect(upstream.requests).toEqual([]);
  });

  it('returns 401 from a Next handler when true, and 200 when false', async () => {
    const visit = (): Request =>
      new Request('https://site.example/api/service-surfaces/poll/render', { method: 'POST' });
    const statuses = [true, false].map(async (requireSession) => {
      return (await next.createSurfaceHandler({ requireSession, toolkit: site })(visit())).status;
    });
    expect(await Promise.all(statuses)).toEqual([401, 200]);
  });

  const RENDER = browserRequest({ method: 'POST', path: '/poll/render' });
});
