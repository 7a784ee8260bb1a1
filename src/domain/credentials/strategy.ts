/** What decides which flow gives the service credential (DESIGN §3, "Strategy chosen"). */
export interface StrategyFacts {
  /** `serviceAuthStrategy`, or the handler's own `strategy`; an empty string when unset. */
  readonly strategy: string;
  /** `authProvider`; an empty string when unset. */
  readonly authProvider: string;
  /** Whether any field of the `serviceAccount` block is filled. */
  readonly hasServiceAccount: boolean;
  readonly hasApiKey: boolean;
  /** Names under which the site registered identity providers of its own. */
  readonly customProviders: ReadonlySet<string>;
}

/** Which provider to ask, by name; or the API key alone; or nothing that could be meant. */
export type ChosenStrategy =
  { readonly kind: 'provider'; readonly name: string } | { readonly kind: 'api-key' } | { readonly kind: 'none' };

const provider = (name: string): ChosenStrategy => ({ kind: 'provider', name });

/** The flow for a configuration: one row of the table in DESIGN §3 per line. */
export function chooseStrategy(facts: StrategyFacts): ChosenStrategy {
  const { strategy, authProvider } = facts;
  if (facts.customProviders.has(strategy)) return provider(strategy);
  switch (strategy) {
    case 'service_account':
      return provider('service_account');
    case 'resource_owner_password':
      return authProvider === 'idp_b' ? provider('idp_b.client_credentials') : provider('idp_a.password');
    case 'client_credentials':
      return authProvider === 'idp_a' ? provider('idp_a.client_credentials') : provider('idp_b.client_credentials');
    case '':
      break;
    default:
      return { kind: 'none' };
  }
  if (authProvider === 'idp_a') return provider('idp_a.password');
  if (authProvider === 'idp_b') return provider('idp_b.client_credentials');
  if (facts.hasServiceAccount) return provider('service_account');
  return facts.hasApiKey ? { kind: 'api-key' } : { kind: 'none' };
}
