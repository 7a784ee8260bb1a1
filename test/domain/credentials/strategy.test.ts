import { describe, expect, it } from 'vitest';
import { FLOWS } from '../../../src/composition/config/providers.js';
import { chooseStrategy, type StrategyFacts } from '../../../src/domain/credentials/credential-broker.js';

const nothing: StrategyFacts = {
  flows: FLOWS,
  strategy: '',
  authProvider: '',
  hasServiceAccount: false,
  hasApiKey: false,
  customProviders: new Set(),
};

describe('the flow of a configuration', () => {
  it.each([
    ['service_account', '', 'service_account'],
    ['service_account', 'idp_a', 'service_account'],
    ['service_account', 'idp_b', 'service_account'],
    ['resource_owner_password', 'idp_a', 'idp_a.password'],
    ['resource_owner_password', '', 'idp_a.password'],
    ['resource_owner_password', 'idp_b', 'idp_b.client_credentials'],
    ['client_credentials', 'idp_b', 'idp_b.client_credentials'],
    ['client_credentials', '', 'idp_b.client_credentials'],
    ['client_credentials', 'idp_a', 'idp_a.client_credentials'],
    ['', 'idp_b', 'idp_b.client_credentials'],
    ['', 'idp_a', 'idp_a.password'],
  ])('with strategy "%s" and provider "%s" is %s', (strategy, authProvider, name) => {
    for (const filled of [false, true]) {
      const facts = { ...nothing, strategy, authProvider, hasServiceAccount: filled, hasApiKey: filled };
      expect(chooseStrategy(facts)).toEqual({ kind: 'provider', name });
    }
  });

  it.each([
    ['', 'okta'],
    ['client_credentials', 'okta'],
    ['resource_owner_password', 'okta'],
    ['service_account', 'service_account'],
    ['ping', 'ping'],
  ])('with strategy "%s" and a custom provider is %s', (strategy, name) => {
    const customProviders = new Set(['okta', 'ping']);
    const facts = { ...nothing, strategy, authProvider: 'okta', customProviders, hasServiceAccount: true };
    expect(chooseStrategy(facts)).toEqual({ kind: 'provider', name });
  });

  it('without a strategy is the service account when it is complete', () => {
    const facts = { ...nothing, hasServiceAccount: true };
    expect(chooseStrategy(facts)).toEqual({ kind: 'provider', name: 'service_account' });
    expect(chooseStrategy({ ...facts, hasApiKey: true })).toEqual({ kind: 'provider', name: 'service_account' });
  });

  it('without a strategy or service account is the API key alone', () => {
    expect(chooseStrategy({ ...nothing, hasApiKey: true })).toEqual({ kind: 'api-key' });
  });

  it('without any field is none', () => {
    expect(chooseStrategy(nothing)).toEqual({ kind: 'none' });
  });

  it('with an unknown strategy does not fall back to another credential', () => {
    const facts = { ...nothing, strategy: 'okta', authProvider: 'idp_a', hasServiceAccount: true, hasApiKey: true };
    expect(chooseStrategy(facts)).toEqual({ kind: 'none' });
  });

  it('can be a custom provider that replaces a built-in one', () => {
    const customProviders = new Set(['client_credentials']);
    expect(
      chooseStrategy({ ...nothing, strategy: 'client_credentials', authProvider: 'idp_a', customProviders }),
    ).toEqual({ kind: 'provider', name: 'client_credentials' });
  });

  it('is a custom provider only when it is named', () => {
    expect(chooseStrategy({ ...nothing, customProviders: new Set(['okta']) })).toEqual({ kind: 'none' });
  });
});
