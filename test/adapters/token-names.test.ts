import { describe, expect, it } from 'vitest';
import { refreshRefusal, tenantName, userNames } from '../../src/adapters/sessions/session-libraries.js';

describe('the tenant of a token', () => {
  it.each([
    [{ tid: 't' }, 't'],
    [{ org_id: 'org_1' }, 'org_1'],
    [{ organization_id: 'o' }, 'o'],
    [{ org_code: 'o' }, 'o'],
    [{ tenant_id: 't' }, 't'],
    [{ sub: 'ada', aud: 'api' }, undefined],
    [{ tid: '' }, undefined],
    [{ org_id: null }, undefined],
    [{ tid: 't', org_id: 7 }, undefined],
    [{ org_id: { id: 'o' } }, undefined],
    [{ organization: { acme: {} } }, undefined],
  ])('of %j is %j', (claims, tenant) => {
    expect(tenantName(claims)).toEqual(tenant === undefined ? {} : { tenant });
  });

  it('combines all its claims, so another value of either is another tenant', () => {
    const names = [
      { tid: 'a', org_id: 'b' },
      { tid: 'a', org_id: 'c' },
      { tid: 'c', org_id: 'b' },
      { tid: 'a' },
      { tid: '[["tid","a"],["org_id","b"]]x' },
    ].map((claims) => tenantName(claims).tenant);
    expect(new Set(names).size).toBe(names.length);
  });

  it('is read from the first token that names one', () => {
    expect(tenantName(undefined, {}, { tid: 'a' }, { tid: 'b' })).toEqual({ tenant: 'a' });
    expect(tenantName({ tid: 7 }, { tid: 'b' })).toEqual({});
  });
});

describe('the user of an ID token', () => {
  it('is named by issuer and subject together, else not at all', () => {
    expect(userNames({ iss: 'https://id.example', sub: 'ada' })).toEqual({
      issuer: 'https://id.example',
      subject: 'ada',
    });
    for (const claims of [undefined, {}, { sub: 'ada' }, { iss: 'i' }, { iss: 'i', sub: 7 }, { iss: {}, sub: 'ada' }]) {
      expect(userNames(claims)).toEqual({});
    }
  });
});

it.each([
  ['invalid_grant', 'expired'],
  ['invalid_token', 'expired'],
  ['login_required', 'expired'],
  ['interaction_required', 'interaction'],
  ['consent_required', 'interaction'],
  ['mfa_required', 'interaction'],
])('a refresh that fails with %s ends the session: %s', (code, reason) => {
  expect(refreshRefusal(code)).toEqual({ kind: 'expired', reason, log: `the refresh failed: ${code}` });
  expect(refreshRefusal('invalid_client')).toBeUndefined();
});
