import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import { secret } from '../../../src/domain/shared/secret.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
import type { CredentialOwner } from '../../../src/domain/credentials/credential.js';
import { BrokerWorld, REQUEST, sessionPlan } from './broker-fixture.js';
import { ExchangeWorld } from './exchange-fixture.js';

function session(
  found: SessionToken,
  audience = '',
): ReturnType<typeof sessionPlan> & { source: FakeSessionTokenSource } {
  const source = new FakeSessionTokenSource(found);
  return { ...sessionPlan(source, audience), source };
}

const ADA: SessionToken = { kind: 'token', accessToken: 'ada-token', subject: 'https://idp.example|ada' };

describe('a session credential', () => {
  it("is the user's own token with the API key", async () => {
    const world = new BrokerWorld();
    const credential = await world.broker.obtain(session(ADA), REQUEST);
    expect(credential.headers).toEqual({ authorization: 'Bearer ada-token', 'x-api-key': 'site-key' });
    expect(credential.kind).toBe('session');
    expect(credential.owner.principal).toMatch(/^user .*7 subject23 https:\/\/idp\.example\|ada$/);
    expect(credential.block).toBe('session');
    expect(world.loads).toEqual([]);
  });

  it('has no cache identity when the session names no user', async () => {
    const credential = await new BrokerWorld().broker.obtain(session({ kind: 'token', accessToken: 't' }), REQUEST);
    expect(credential.owner.principal).toBeUndefined();
  });

  it('contains the API key of the route', async () => {
    const auth = { ...session(ADA), apiKey: secret('route-key') };
    expect((await new BrokerWorld().broker.obtain(auth, REQUEST)).headers['x-api-key']).toBe('route-key');
  });

  it('is requested for the audience of the route', async () => {
    const [plain, audienced] = [session(ADA), session(ADA, 'https://platform.example')];
    const { broker } = new BrokerWorld();
    await broker.obtain(plain, REQUEST);
    await broker.obtain(audienced, REQUEST);
    expect(plain.source.queries).toEqual([{}]);
    expect(audienced.source.queries).toEqual([{ audience: 'https://platform.example' }]);
  });

  it('is looked up per request, so users never share one', async () => {
    const { broker } = new BrokerWorld();
    const auth = session(ADA);
    await broker.obtain(auth, REQUEST);
    auth.source.session = { kind: 'token', accessToken: 'bob-token' };
    expect((await broker.obtain(auth, REQUEST)).headers['authorization']).toBe('Bearer bob-token');
  });

  it('never shows the token when printed', async () => {
    const credential = await new BrokerWorld().broker.obtain(session(ADA), REQUEST);
    expect(inspect(credential, { depth: 12, showHidden: true }) + JSON.stringify(credential)).not.toContain(
      'ada-token',
    );
  });
});

describe('the owner of a session credential', () => {
  const exchangeOf = (principal: string): ExchangeWorld['tokens'] => {
    const world = new ExchangeWorld();
    world.exchange.name = principal;
    return world.tokens;
  };
  const ownerOf = async (found: object, more: object = {}): Promise<CredentialOwner> => {
    const auth = session({ kind: 'token', accessToken: 'ada-token', subject: 'ada', ...found });
    return (await new BrokerWorld().broker.obtain({ ...auth, ...more }, REQUEST)).owner;
  };

  it('differs in each of user, tenant, audience, exchange and API key', async () => {
    const owners = await Promise.all([
      ownerOf({ tenant: 'acme' }),
      ownerOf({ tenant: 'acme', subject: 'bob' }),
      ownerOf({ tenant: 'other' }),
      ownerOf({ tenant: 'acme' }, { audience: 'https://platform.example' }),
      ownerOf({ tenant: 'acme' }, { exchange: new ExchangeWorld().tokens }),
      ownerOf({ tenant: 'acme' }, { exchange: exchangeOf('another client') }),
      ownerOf({ tenant: 'acme' }, { apiKey: secret('route-key') }),
    ]);
    expect(new Set(owners.map(({ principal }) => principal)).size).toBe(7);
    for (const { principal, reader } of owners) expect(reader).toBe(principal);
    expect(await ownerOf({ tenant: 'acme', accessToken: 'renewed' })).toEqual(owners[0]);
  });

  it.each([
    ['tenant', {}],
    ['subject', { subject: '', tenant: 'acme' }],
  ])('without a %s differs in the token and the user for look-ups', async (_missing, found) => {
    const [ada, same, renewed] = await Promise.all([
      ownerOf(found),
      ownerOf(found),
      ownerOf({ ...found, accessToken: 'renewed' }),
    ]);
    expect([same, renewed.principal]).toEqual([ada, ada.principal]);
    expect(ada.reader).toMatch(/^token hash\(ada-token\) ./);
    expect(renewed.reader).not.toBe(ada.reader);
  });
});

describe('a request without a session', () => {
  it('is rejected with the hint to sign in', async () => {
    const world = new BrokerWorld();
    await expect(world.broker.obtain(session({ kind: 'no-session' }), REQUEST)).rejects.toMatchObject({
      name: 'SessionError',
      code: 'session_required',
      detail: 'No user is signed in.',
      hint: 'Sign in and try again.',
    });
    expect(world.account.issued).toBe(0);
  });

  it('fails as an outage when the source throws synchronously', async () => {
    const source = {
      getToken: (): never => {
        throw new Error('no store');
      },
    };
    const auth = sessionPlan(source);
    await expect(new BrokerWorld().broker.obtain(auth, REQUEST)).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
    });
  });
});
