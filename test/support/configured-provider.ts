import { silentTelemetry } from '../../src/adapters/telemetry/operator-telemetry.js';
import { systemClock } from '../../src/adapters/system/system.js';
import { resolveConfig } from '../../src/composition/config/resolve-config.js';
import type { ServerConfig } from '../../src/composition/config/server-config.js';
import { providerContext, providerLoader } from '../../src/composition/toolkit/identity-module.js';
import type { Identity, IdentityProvider } from '../../src/ports/identity-provider.js';

type Context = Parameters<typeof providerContext>[1];

/** The provider that a toolkit creates for a flow of this configuration. */
export async function configuredProvider(
  flow: string,
  config: ServerConfig,
  settings: Partial<Omit<Context, 'fetch'>> & { readonly fetch?: unknown } = {},
): Promise<IdentityProvider> {
  const resolved = resolveConfig(config);
  const usual = { fetch: undefined, telemetry: silentTelemetry, clock: systemClock, proofKey: new Uint8Array(32) };
  const provider = await providerLoader(
    resolved,
    providerContext(resolved, { ...usual, ...settings } as Context),
  )(flow);
  if (provider === undefined) throw new Error(`no provider has the flow ${flow}`);
  return provider;
}

/** Default adapters, for tests that do not depend on them. */
export function anyIdentity(): Promise<Identity> {
  return Promise.resolve({ principal: 'somebody', proof: 'a proof' });
}
