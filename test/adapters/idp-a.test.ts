import { createHash, createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { IdpAProvider, IdpAProviderOptions } from '../../src/adapters/idp-a/idp-a.js';
import { secret } from '../../src/domain/shared/secret.js';
import type { AccessToken } from '../../src/ports/identity-provider.js';
import { identityProviderContract } from '../contracts/identity-provider.contract.js';
import { tokenEndContract } from '../contracts/oauth-provider.contract.js';
import { PASSWORD_REALM, startIdpA } from '../support/identity-provider/index.js';
import { startIdpAWorld } from './idp-a-world.js';

const { idp, provider } = await startIdpAWorld();
const NOW = Date.now();

async function issued(from: IdpAProvider): Promise<AccessToken> {
  const outcome = await from.issue(NOW);
  if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.detail}`);
  return outcome.token;
}

identityProviderContract('IdpAProvider', async () => {
  const gone = await startIdpA();
  await gone.close();
  return {
    now: NOW,
    working: provider(),
    again: provider(),
    different: {
      domain: provider({ domain: 'other.example' }),
      clientId: provider({ clientId: 'other' }),
      clientSecret: provider({ clientSecret: secret('other') }),
      audience: provider({ audience: 'https://other.example' }),
      scope: provider({ scope: 'read' }),
      realm: provider({ realm: 'other' }),
      username: provider({ username: 'other@site.example' }),
      password: provider({ password: secret('other') }),
      grant: provider({ grant: 'client_credentials' }),
    },
    failing: {
      'no domain': { provider: provider({ domain: '' }), reason: 'incomplete', fields: ['domain'] },
      'a wrong client secret': {
        provider: provider({ clientSecret: secret('wrong-client-secret') }),
        reason: 'refused',
        fields: ['clientId', 'clientSecret'],
      },
      'a provider that is gone': {
        provider: provider({ domain: gone.domain }),
        reason: 'unavailable',
        fields: ['domain'],
      },
    },
    secrets: [idp.client.secret, idp.user.password, 'wrong-client-secret'],
  };
});

describe('a service token from idp_a', () => {
  it('is the service user’s, for the configured audience and scope', async () => {
    const token = await issued(provider({ scope: 'read' }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({
      sub: `auth0|${idp.user.username}`,
      aud: idp.audience,
      scope: 'read',
    });
    expect(token.expiresAt).toBe(NOW + 300_000);
    expect(idp.tokenRequests.list.map(({ grant }) => grant)).toEqual(['password']);
  });

  it('is looked for in the configured realm', async () => {
    const token = await issued(provider({ ...idp.employee, password: secret(idp.employee.password) }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: `auth0|${idp.employee.username}` });
    expect(idp.tokenRequests.last).toMatchObject({ grant: PASSWORD_REALM, form: { realm: idp.employee.realm } });
  });

  it('is the application’s own with client credentials, and no user is sent', async () => {
    const token = await issued(provider({ grant: 'client_credentials' }));
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: idp.client.id, aud: idp.audience });
    expect(Object.keys(idp.tokenRequests.last?.form ?? {}).sort()).toEqual([
      'audience',
      'client_id',
      'client_secret',
      'grant_type',
    ]);
  });

  it('is asked for with the client secret in the form and in no header', async () => {
    await issued(provider());
    expect(idp.tokenRequests.last?.headers['authorization']).toBeUndefined();
    expect(idp.tokenRequests.last?.form['client_secret']).toBe('[redacted]');
  });

  it('is never asked for with openid or offline_access', async () => {
    await issued(provider({ scope: 'openid  read offline_access chat' }));
    expect(idp.tokenRequests.last?.form['scope']).toBe('read chat');
    await issued(provider({ scope: 'openid' }));
    expect(idp.tokenRequests.last?.form).not.toHaveProperty('scope');
  });

  it('is asked for without an audience when none is configured', async () => {
    const token = await issued(provider({ audience: '' }));
    expect(idp.tokenRequests.last?.form).not.toHaveProperty('audience');
    expect(token.expiresAt).toBe(NOW + 300_000);
  });

  it('comes from the same issuer however the domain is written', async () => {
    const spellings = ['', '/', '/.well-known/openid-configuration'].flatMap((end) => [
      idp.domain + end,
      `https://${idp.domain}${end}`,
      ` HTTPS://${idp.domain}${end} `,
    ]);
    const fingerprints = new Set<string>();
    for (const domain of spellings) {
      const spelled = provider({ domain, fingerprintKey: 'shared' });
      await issued(spelled);
      fingerprints.add(await spelled.fingerprint());
    }
    expect(fingerprints.size).toBe(1);
  });

  it('comes over http only from this machine and only when that is allowed', async () => {
    const plain = await startIdpA({ insecure: true });
    try {
      const address = { domain: plain.issuer, fetch: undefined };
      const token = await issued(provider({ ...address, allowInsecure: true }));
      expect(await plain.verifyAccessToken(token.value)).toMatchObject({ aud: plain.audience });

      const count = plain.metadataRequests.count;
      const refused = { kind: 'failure', reason: 'refused', block: 'idpA', fields: ['domain'] };
      expect(await provider(address).issue(NOW)).toMatchObject(refused);
      expect(await provider({ domain: 'http://idp.example', allowInsecure: true }).issue(NOW)).toMatchObject(refused);
      expect(plain.metadataRequests.count).toBe(count);
    } finally {
      await plain.close();
    }
  });
});

describe('the provider’s metadata', () => {
  it('is fetched once for callers that come at once', async () => {
    const shared = provider();
    await Promise.all(Array.from({ length: 20 }, () => issued(shared)));
    await issued(shared);
    expect(idp.metadataRequests.count).toBe(1);
    expect(idp.tokenRequests.count).toBe(21);
  });

  it('is fetched again after a failure', async () => {
    idp.faults.metadata = { destroy: true, times: 1 };
    const healing = provider();
    const first = await Promise.all([healing.issue(NOW), healing.issue(NOW)]);
    expect(first.map(({ kind }) => kind)).toEqual(['failure', 'failure']);
    await issued(healing);
    expect(idp.metadataRequests.count).toBe(2);
  });

  it('is fetched again when the token endpoint has moved', async () => {
    idp.faults.metadata = { times: 1, transform: (body) => ({ ...body, token_endpoint: `${idp.issuer}old/token` }) };
    const following = provider();
    expect(await following.issue(NOW)).toMatchObject({ kind: 'failure', reason: 'refused', fields: ['domain'] });
    await issued(following);
  });
});

describe('the end of a service token', () => {
  const lifeWith = async (
    change: Record<string, unknown>,
    options: Partial<IdpAProviderOptions> = {},
  ): Promise<number> => {
    idp.faults.token = { transform: (body) => ({ ...body, ...change }) };
    return (await issued(provider(options))).expiresAt - NOW;
  };
  const opaque = { audience: '' };

  tokenEndContract(lifeWith);

  it('is a minute away when neither answer nor token tells', async () => {
    expect(await lifeWith({ expires_in: undefined }, opaque)).toBe(60_000);
  });

  it('is a minute away when the token claims to be over', async () => {
    const over = await idp.issueUserToken('x', { expiresInSeconds: -100 });
    expect(await lifeWith({ expires_in: undefined, access_token: over })).toBe(60_000);
    expect(await lifeWith({ expires_in: undefined, access_token: 'a.b.c' })).toBe(60_000);
  });
});

describe('a response with more in it than a token', () => {
  it('gives the token even if the id_token in it is worthless', async () => {
    idp.faults.token = { transform: (body) => ({ ...body, id_token: 'x.y.z', refresh_token: 7, scope: ['read'] }) };
    expect((await issued(provider())).value).toMatch(/^eyJ/);
  });

  it('is refused when the token could not stand in a header', async () => {
    idp.faults.token = { transform: (body) => ({ ...body, access_token: 'one\r\nx-evil: two' }) };
    expect(await provider().issue(NOW)).toMatchObject({ kind: 'failure', reason: 'unavailable' });
  });
});

describe('the fingerprint of idp_a', () => {
  it('is the same in two processes with one key, and another without', async () => {
    const [one, two, other, none] = await Promise.all(
      [{ fingerprintKey: 'key' }, { fingerprintKey: Buffer.from('key') }, { fingerprintKey: 'other' }, {}].map((key) =>
        provider(key).fingerprint(),
      ),
    );
    expect(two).toBe(one);
    expect(new Set([one, other, none]).size).toBe(3);
  });

  it('holds no hash that a guess of the password could be held against', async () => {
    const text = await provider({ fingerprintKey: '' }).fingerprint();
    const credentials = JSON.stringify([idp.client.secret, idp.user.password]);
    for (const guess of [idp.user.password, credentials]) {
      expect(text).not.toContain(createHash('sha256').update(guess).digest('base64url'));
      expect(text).not.toContain(createHmac('sha256', '').update(guess).digest('base64url'));
    }
  });

  it('does not change with settings its tokens do not depend on', async () => {
    const machine = { grant: 'client_credentials', fingerprintKey: 'key' } as const;
    const other = { ...machine, username: '', password: secret(''), realm: 'x', timeoutMs: 1 };
    expect(await provider(other).fingerprint()).toBe(await provider(machine).fingerprint());
  });
});

describe('printing the provider', () => {
  it('shows no secret after a token and a failure', async () => {
    const used = provider();
    await issued(used);
    idp.faults.token = { status: 400, body: { error: 'invalid_grant', error_description: idp.user.password } };
    const failure = await used.issue(NOW);
    const print = [used, failure].map(
      (value) => inspect(value, { depth: 20, showHidden: true }) + JSON.stringify(value),
    );
    expect(print.join()).not.toContain(idp.user.password);
    expect(print.join()).not.toContain(idp.client.secret);
    expect(String(used)).toBe('[object Object]');
  });
});
