import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { FakeIdentityProvider, FakeTokenExchange } from '../../src/adapters/fakes/fakes.js';
import { createGetHeadersForSession, createGetHeadersWithServiceAuth } from '../../src/composition/get-headers.js';
import type { RequestContext } from '../../src/ports/http.js';
import { createToolkit } from '../../src/composition/toolkit/toolkit.js';

const bearer = (request: { headers: Headers | Record<string, string>; user?: string }): string | null =>
  request.user ?? null;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('headers for the service', () => {
  it('contain the token of the strategy and the API key', async () => {
    const toolkit = createToolkit(
      { serviceApiKey: 'configured' },
      { identityProviders: { okta: new FakeIdentityProvider('okta') } },
    );
    const headers = createGetHeadersWithServiceAuth({ strategy: 'okta', apiKey: 'own', toolkit });
    expect(await headers()).toEqual({ authorization: 'Bearer okta-token-1', 'x-api-key': 'own' });
    expect(await createGetHeadersWithServiceAuth({ strategy: 'okta', toolkit })()).toEqual({
      authorization: 'Bearer okta-token-1',
      'x-api-key': 'configured',
    });
  });
});

describe('headers for a session', () => {
  it.each([
    ['a Web request', Object.assign(new Request('https://site.example'), { user: 'ada-token' })],
    ['an Express request', { headers: {}, user: 'ada-token' }],
  ])('contain the token of the user of %s', async (_kind, request) => {
    const getHeaders = createGetHeadersForSession({ auth: bearer, apiKey: 'key', toolkit: createToolkit({}) });
    expect(await getHeaders(request)).toEqual({ authorization: 'Bearer ada-token', 'x-api-key': 'key' });
  });

  it('come from a session source that gets the response of the framework, to renew its cookie', async () => {
    const natives: unknown[] = [];
    const auth = {
      getToken: (request: RequestContext) => {
        natives.push(request.native);
        return Promise.resolve({ kind: 'token', accessToken: 'ada-token' } as const);
      },
    };
    const getHeaders = createGetHeadersForSession({ auth, toolkit: createToolkit({}) });
    const [response, request] = [{ setHeader: () => undefined }, { headers: {} }];
    const withResponse = { ...request, res: response };
    for (const one of [request, withResponse, undefined]) await getHeaders(one);
    expect(natives).toEqual([{ request }, { request: withResponse, response }, { request: undefined }]);
  });

  it.each([
    ['the call asks for it', {}, { exchange: 'on_behalf_of' as const }],
    ['the exchange is configured', { onBehalfOf: {} }, {}],
  ])('contain the exchanged token when %s', async (_when, config, options) => {
    const toolkit = createToolkit(config, { tokenExchange: new FakeTokenExchange() });
    const getHeaders = createGetHeadersForSession({ authClient: bearer, ...options, toolkit });
    expect(await getHeaders({ headers: {}, user: 'ada' })).toEqual({ authorization: 'Bearer exchanged-ada-1' });
  });

  it('keep no reference to a session source that a site creates for one request', async () => {
    const toolkit = createToolkit({});
    const used = async (): Promise<WeakRef<object>> => {
      const auth = (_request: unknown): object => ({ kind: 'token', accessToken: 'ada-token', subject: '1' });
      await toolkit.sessionHeaders({ auth: auth as never }, {});
      return new WeakRef(auth);
    };
    const source = await used();
    await expect
      .poll(() => {
        collectGarbage();
        // A failed expectation retains the value it was given.
        return source.deref() === undefined;
      })
      .toBe(true);
    await toolkit.close();
  });

  it('are rejected with a code when no user is signed in', async () => {
    const getHeaders = createGetHeadersForSession({
      authClient: bearer,
      toolkit: createToolkit({ serviceApiKey: 'k' }),
    });
    await expect(getHeaders({ headers: {} })).rejects.toMatchObject({ code: 'session_required' });
  });
});
