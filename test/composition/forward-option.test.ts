import { beforeAll, describe, expect, it } from 'vitest';
import * as express from '../../src/composition/express.js';
import * as root from '../../src/composition/index.js';
import * as next from '../../src/composition/next.js';
import { createWebHandler } from '../../src/composition/web.js';
import { CONFIG, type Factory, framework, refusal, session } from './route-factories.js';

beforeAll(() => {
  root.configureServer(CONFIG);
});

describe('the option "cache"', () => {
  it.each([
    [{ enabled: 'yes' }, 'cache.enabled', 'Set it to true or false.'],
    [{ freshMs: -1 }, 'cache.freshMs', 'Set it to a whole number from 0.'],
    [{ maxAgeMs: 1.5 }, 'cache.maxAgeMs', 'Set it to a whole number from 0.'],
    [{ maxEntryBytes: Number.NaN }, 'cache.maxEntryBytes', 'Set it to a whole number from 0.'],
    [{ fresh: 1 }, 'cache.fresh', 'Did you mean "cache.freshMs"?'],
  ])('rejects %j', (cache, field, hint) => {
    expect(() => next.createSurfaceHandler({ cache: cache as object })).toThrow(
      expect.objectContaining({ block: 'createSurfaceHandler', fields: [field], hint }),
    );
  });
});

describe('the option "forward"', () => {
  const WITHHELD = `
    Authorization proxy-authorization cookie set-cookie www-authenticate proxy-authenticate x-api-key
    X-Project-Id x-ms-token-aad-access-token a2a-version accept accept-encoding host connection
    keep-alive te trailer transfer-encoding upgrade proxy-connection expect
    content-length content-type content-encoding if-none-match range access-control-allow-origin cache-control
    cdn-cache-control x-accel-redirect x-cache content-security-policy __proto__`
    .trim()
    .split(/\s+/);
  const makers = [
    { maker: 'createA2ARouter', make: (options: never) => express.createA2ARouter(framework, options) },
    { maker: 'createSurfaceHandler', make: next.createSurfaceHandler },
    { maker: 'createServiceProxyHandler', make: next.createServiceProxyHandler, fewest: { auth: session } },
  ];

  describe.each(makers)('of $maker', ({ maker, make: call, fewest = {} }) => {
    const factory = { maker, make: call as Factory['make'], names: [] };

    it.each(['request', 'response'])('rejects fields that are never forwarded in a %s', async (direction) => {
      for (const name of WITHHELD) {
        const forward = { [direction]: ['x-agent-trace', name] };
        expect(await refusal(factory, { ...fewest, forward })).toMatchObject({
          detail: `Invalid value for "forward.${direction}" of ${maker}.`,
          hint: `Set it to fields that may be forwarded: "${name.toLowerCase()}" never is.`,
          block: maker,
          fields: [`forward.${direction}`],
        });
      }
    });

    it('accepts other fields in upper or lower case', () => {
      const forward = { request: ['Baggage', 'prefer', 'accept-language'], response: ['x-agent-trace', 'Location'] };
      expect(() => factory.make({ ...fewest, forward } as never)).not.toThrow();
      expect(() => factory.make({ ...fewest, forward: { request: [] } } as never)).not.toThrow();
    });

    it.each([[['x marker']], [['x-märker']], [['']], [[7]], ['marker'], [[null]]])(
      'rejects %j without quoting it',
      async (request) => {
        const error = await refusal(factory, { ...fewest, forward: { request } });
        const hint = expect.stringMatching(
          /^Set it to (a list of names of header fields|a list of strings)\.$/,
        ) as string;
        expect(error).toMatchObject({ block: maker, fields: ['forward.request'], hint });
        expect(error.message).not.toContain('marker');
      },
    );

    it('suggests the other direction for a field that belongs there', async () => {
      expect(await refusal(factory, { ...fewest, forward: { requests: [] } })).toMatchObject({
        hint: 'Did you mean "forward.request"?',
      });
    });
  });

  const renamed = root.createToolkit({ ...CONFIG, upstream: { headers: { apiKey: 'X-Platform-Key' } } });
  const options = { a2a: { forward: { request: ['x-platform-key'] } } };

  it("rejects the toolkit's API key field, including a renamed one", () => {
    const refused = expect.objectContaining({
      detail: 'Invalid value for "a2a.forward.request" of createWebHandler.',
      hint: 'Set it to fields that may be forwarded: "x-platform-key" never is.',
    }) as Error;
    expect(() => createWebHandler({ toolkit: renamed, ...options })).toThrow(refused);
    root.configureServer({ upstream: { headers: { apiKey: 'X-Platform-Key' } } });
    expect(() => createWebHandler(options)).toThrow(refused);
    root.configureServer({ upstream: { headers: { apiKey: '' } } });
  });

  it('fails the request when configureServer runs after the route was created', async () => {
    const handle = createWebHandler(options);
    root.configureServer({ upstream: { headers: { apiKey: 'X-Platform-Key' } } });
    const response = await handle(new Request('https://site.example/api/a2a/config'));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'configuration_invalid', fields: ['forward.request'] });
    root.configureServer({ upstream: { headers: { apiKey: '' } } });
  });
});
