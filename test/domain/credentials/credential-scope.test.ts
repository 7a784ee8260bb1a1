import { describe, expect, it } from 'vitest';
import { Credential } from '../../../src/domain/credentials/credential.js';
import { credentialScope, lookupScope } from '../../../src/domain/credentials/credential-scope.js';
import type { HeadersAuth, RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import { SERVICE } from './broker-fixture.js';

const OWN: HeadersAuth = { kind: 'headers', obtain: () => Promise.reject(new Error('not asked')) };

function scope(auth: RouteAuth, headers: Record<string, string>, identity?: string): readonly unknown[] | undefined {
  const kind = auth.kind === 'api-key' ? 'api-key' : 'service';
  return credentialScope(
    auth,
    new Credential({ kind, headers, identity, block: 'b', cacheKey: undefined, token: undefined }),
  );
}

describe('what tells callers apart in a cache', () => {
  it('is the whole of the headers a site makes itself, in whatever order it makes them', () => {
    const expected = [
      'headers',
      [
        ['authorization', 'Bearer t'],
        ['x-a', '1'],
        ['x-b', '2'],
      ],
    ];
    expect(scope(OWN, { 'x-b': '2', authorization: 'Bearer t', 'x-a': '1' })).toEqual(expected);
    expect(scope(OWN, { 'x-a': '1', 'x-b': '2', authorization: 'Bearer t' })).toEqual(expected);
    expect(scope(OWN, { authorization: 'Bearer u', 'x-a': '1', 'x-b': '2' })).not.toEqual(expected);
  });

  it('is the name of the credential and the API key, so that a renewed token finds what the old one left', () => {
    const renders = ['old', 'new'].map((token) =>
      scope(SERVICE, { authorization: `Bearer ${token}`, 'x-api-key': 'key' }, 'service:account'),
    );
    expect(renders).toEqual([
      ['service', 'service:account', { 'x-api-key': 'key' }],
      ['service', 'service:account', { 'x-api-key': 'key' }],
    ]);
  });

  it('has the fields in it that the site added, of look-ups also those it forwarded, and none of tracing', () => {
    const fields = {
      added: { 'x-tenant': 'acme', tracestate: 'a=1' },
      forwarded: { prefer: 'wait', baggage: 'b=2' },
      response: [],
    };
    for (const auth of [SERVICE, OWN]) {
      const named = { kind: 'service', headers: {}, identity: 'account', block: 'b', cacheKey: undefined } as const;
      const credential = new Credential({ ...named, token: undefined, fields });
      const kept = JSON.stringify(credentialScope(auth, credential));
      expect(kept).toContain('acme');
      expect(kept).not.toMatch(/wait|a=1|b=2/);
      const lookedUp = JSON.stringify(lookupScope(auth, credential));
      expect(lookedUp).toMatch(/acme.*wait/);
      expect(lookedUp).not.toMatch(/a=1|b=2/);
    }
  });

  it('is nothing where the credential names nobody', () => {
    expect(scope(SERVICE, { authorization: 'Bearer t' })).toBeUndefined();
  });
});
