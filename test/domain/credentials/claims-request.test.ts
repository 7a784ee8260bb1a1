import { describe, expect, it } from 'vitest';
import { challengedClaims, claimsRequest } from '../../../src/domain/credentials/claims-request.js';

const CLAIMS = '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}';

describe('requested claims', () => {
  it.each([CLAIMS, ` {"id_token" : {"acr":{"values":["mfa"]}} ,"access_token":{}}`])(
    'are serialised again: %s',
    (text) => {
      expect(claimsRequest(text)).toBe(JSON.stringify(JSON.parse(text)));
    },
  );

  it.each([
    ['nothing', undefined],
    ['no JSON', '<script>'],
    ['a list', '[{"access_token":{}}]'],
    ['an empty object', '{}'],
    ['another member', '{"access_token":{},"userinfo":{}}'],
    ['a prototype', '{"__proto__":{"access_token":{}}}'],
    ['a member without an object', '{"access_token":"c1"}'],
    ['more than 4 KB', JSON.stringify({ access_token: { value: 'x'.repeat(4_096) } })],
    ['more than 4 KB in UTF-8', JSON.stringify({ access_token: { value: '한'.repeat(1_400) } })],
  ])('are none in %s', (_what, text) => {
    expect(claimsRequest(text)).toBeUndefined();
  });
});

describe('a challenge', () => {
  it.each([
    ['in base64', `Bearer realm="", error="insufficient_claims", claims="${btoa(CLAIMS)}"`],
    ['in base64url', `Bearer claims="${btoa(CLAIMS).replaceAll('=', '')}", error="insufficient_claims"`],
    ['as escaped text', `Bearer claims="${CLAIMS.replaceAll('"', '\\"')}"`],
    ['beside another scheme', ['Basic realm="x"', `Bearer claims="${btoa(CLAIMS)}"`]],
  ])('requests claims %s', (_what, field) => {
    expect(challengedClaims(field)).toBe(CLAIMS);
  });

  it.each([
    undefined,
    'Bearer error="invalid_token"',
    'Bearer claims=""',
    'Bearer claims="%%%"',
    'Bearer xclaims="e30"',
  ])('requests none: %s', (field) => {
    expect(challengedClaims(field)).toBeUndefined();
  });
});
