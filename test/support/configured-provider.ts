import { silentTelemetry } from '../../src/adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ProviderName } from '../../src/composition/config/provider-flows.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { type Identities, providerOf, PROVIDERS } from '../../src/composition/toolkit/identity-providers.js';
import type { Identity, IdentityProvider } from '../../src/ports/identity-provider.js';

type Settings = Partial<Omit<Identities, 'fetch'>> & { readonly fetch?: unknown };

function identities(settings: Settings): Identities {
  return {
    fetch: undefined,
    telemetry: silentTelemetry,
    clock: systemClock,
    proofKey: new Uint8Array(32),
    ...settings,
  } as Identities;
}

/** The provider of a flow, as a toolkit of this configuration has it. */
export function configuredProvider(
  flow: string,
  config: ServerConfig,
  settings: Settings = {},
): Promise<IdentityProvider> {
  return PROVIDERS[providerOf(flow) as ProviderName].load(flow, resolveConfig(config), identities(settings));
}

/** For adapters of which a test is about something else. */
export function anyIdentity(): Promise<Identity> {
  return Promise.resolve({ principal: 'somebody', proof: 'a proof' });
}
