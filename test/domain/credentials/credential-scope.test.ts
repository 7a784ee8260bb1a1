import { describe, expect, it } from 'vitest';
import { Credential, credentialScope, isVaried, readerScope } from '../../../src/domain/credentials/credential.js';
import { ownedBy } from './broker-fixture.js';

const FACTS = { kind: 'service', headers: {}, block: 'b' } as const;

describe('the cache scope of a caller', () => {
  it('is the owner of the credential, regardless of its header fields', () => {
    const headers = { authorization: 'Bearer t', 'x-api-key': 'key' };
    const credential = new Credential({ ...FACTS, headers, owner: ownedBy('account') });
    expect([credentialScope(credential), readerScope(credential)]).toEqual(['account', 'account']);
  });

  it("includes the site's fields, for look-ups also forwarded ones, but never tracing fields", () => {
    const fields = {
      added: { 'x-tenant': 'acme', tracestate: 'a=1', traceparent: '00-a-b-01' },
      forwarded: { prefer: 'wait', baggage: 'b=2' },
      response: [],
    };
    const credential = new Credential({ ...FACTS, owner: ownedBy('account'), fields });
    expect(credentialScope(credential)).toBe('["account",[["x-tenant","acme"]]]');
    expect(readerScope(credential)).toBe('["account",[["x-tenant","acme"]],[["prefer","wait"]]]');
    expect(readerScope(credential, 'route 1')).toBe('["route 1",[["x-tenant","acme"]],[["prefer","wait"]]]');
  });

  it.each([
    [false, undefined],
    [false, { added: { tracestate: 'a=1' }, forwarded: { baggage: 'b=2' }, response: [] }],
    [true, { added: { 'x-tenant': 'acme' }, forwarded: {}, response: [] }],
    [true, { added: {}, forwarded: { prefer: 'wait' }, response: [] }],
  ])('can be varied by visitors: %s with the fields %j', (expected, fields) => {
    const credential = new Credential({ ...FACTS, owner: ownedBy('account'), fields });
    expect(isVaried(credential)).toBe(expected);
  });

  it('is undefined for a credential without a principal, except for look-ups, which use its reader', () => {
    const credential = new Credential({ ...FACTS, owner: ownedBy() });
    expect([credentialScope(credential), readerScope(credential)]).toEqual([undefined, 'nameless']);
    const added = { 'x-tenant': 'acme' };
    expect(credentialScope(credential.withFields({ added, forwarded: {}, response: [] }))).toBeUndefined();
  });

  it('is computed once per credential, even with additional fields', () => {
    let times = 0;
    const owner = () => ({ principal: String((times += 1)), reader: '' });
    const credential = new Credential({ ...FACTS, owner });
    const sent = credential.withFields({ added: {}, forwarded: {}, response: [] });
    expect([credentialScope(sent), credentialScope(sent), credentialScope(credential)]).toEqual(['1', '1', '1']);
  });
});
