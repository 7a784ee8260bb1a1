/** The flows of each built-in provider, by the strategy that asks for them; the first is the provider's own. */
export type ProviderFlows = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** What decides which flow gives the service credential. */
export interface StrategyFacts {
  readonly flows: ProviderFlows;
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

/** The flow for a configuration: the chosen provider's, else that of the provider whose own strategy it is. */
export function chooseStrategy(facts: StrategyFacts): ChosenStrategy {
  const { strategy, flows } = facts;
  if (facts.customProviders.has(strategy)) return provider(strategy);
  if (facts.customProviders.has(facts.authProvider) && strategy !== 'service_account')
    return provider(facts.authProvider);
  const chosen = Object.hasOwn(flows, facts.authProvider) ? flows[facts.authProvider] : undefined;
  if (strategy !== '') {
    const own = Object.values(flows).find((one) => Object.keys(one)[0] === strategy);
    const flow = chosen !== undefined && Object.hasOwn(chosen, strategy) ? chosen[strategy] : own?.[strategy];
    return flow === undefined ? { kind: 'none' } : provider(flow);
  }
  const [first] = Object.values(chosen ?? {});
  if (first !== undefined) return provider(first);
  if (facts.hasServiceAccount) return provider('service_account');
  return facts.hasApiKey ? { kind: 'api-key' } : { kind: 'none' };
}
