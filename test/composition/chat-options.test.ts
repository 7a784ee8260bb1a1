import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../src/adapters/fakes/fakes.js';
import { CHAT, type ChatHandlerOptions } from '../../src/composition/routes/route-options.js';
import type { RouteAuth } from '../../src/domain/credentials/route-auth.js';
import { readOptions } from '../../src/domain/shared/options.js';
import { routeCredentials } from './route-credentials.js';

function auth(options: ChatHandlerOptions, custom: readonly string[] = []): RouteAuth<'service' | 'session'> {
  const toolkit = { customProviders: new Set(custom) };
  return routeCredentials().chat(readOptions('createA2ARouter', CHAT, options, { toolkit }));
}

describe('a chat route', () => {
  it('without options uses the configured strategy and key', () => {
    expect(auth({})).toEqual({ kind: 'service', strategy: '', apiKey: undefined });
    expect(auth({ strategy: '', apiKey: '' })).toEqual({ kind: 'service', strategy: '', apiKey: undefined });
  });

  it.each(['service_account', 'resource_owner_password', 'client_credentials'])(
    'may use the strategy %s',
    (strategy) => {
      expect(auth({ strategy })).toMatchObject({ kind: 'service', strategy });
    },
  );

  it('may use a provider the site registered', () => {
    expect(auth({ strategy: 'okta' }, ['okta'])).toMatchObject({ strategy: 'okta' });
  });

  it('may have a key of its own, which nothing prints', () => {
    const { apiKey } = auth({ apiKey: 'route-key' });
    expect([apiKey?.reveal(), String(apiKey)]).toEqual(['route-key', '[redacted]']);
  });

  it('with a session source requires a session, and its key stays', () => {
    const source = new FakeSessionTokenSource();
    const session = auth({ getSessionToken: source, apiKey: 'route-key' });
    expect(session).toMatchObject({ kind: 'session', required: true, audience: '', exchange: undefined });
    expect(session.apiKey?.reveal()).toBe('route-key');
  });

  it("with a session source may name an audience, and exchange the user's token", () => {
    const options = {
      getSessionToken: () => null,
      audience: 'https://platform.example',
      exchange: 'on_behalf_of',
    } as const;
    const session = auth(options);
    expect(session).toMatchObject({ kind: 'session', audience: 'https://platform.example' });
    expect(session.kind === 'session' && session.exchange).toBeDefined();
  });
});
