import type { ProviderName } from '../config/provider-flows.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import { PROVIDERS } from '../toolkit/identity-providers.js';
import { failed, type Finding, named, networkFix, passed, skipped, withMeaning } from './finding.js';

const CHECK = 'provider';

/** Asks a provider for its public description, with no credential; nothing where it has none. */
export async function providerReach(
  name: ProviderName,
  config: ResolvedConfig,
  forUsers: boolean,
  fetch: typeof globalThis.fetch,
): Promise<readonly Finding[]> {
  const { block: usual, address } = PROVIDERS[name];
  if (address === undefined) return [];
  const { field, url, fault, block = usual } = address(config, forUsers);
  const place = { block, fields: [field] };
  if (fault !== undefined) return [failed(CHECK, fault, place, `Correct ${named(place)}.`)];
  // Said with all other missing fields by whoever needs it.
  if (url === undefined) return [skipped(CHECK, `${field} is not set`)];
  const { origin } = new URL(url);
  try {
    const signal = AbortSignal.timeout(config.timeouts.identityProviderMs);
    const response = await fetch(url, { redirect: 'manual', signal });
    await response.body?.cancel();
    if (response.status === 200) return [passed(CHECK, `${origin} responds`)];
    const message = `${url} responds ${String(response.status)}, so there is no provider of this name`;
    return [failed(CHECK, message, place, `Correct ${named(place)}.`)];
  } catch (error) {
    const code = codeOf(error);
    return [failed(CHECK, `${origin} cannot be reached: ${withMeaning(code) ?? code}`, place, networkFix(code, place))];
  }
}

/** The code of the network's error, which stands at the end of its causes; its text may hold anything. */
function codeOf(error: unknown): string {
  const { cause, code, name } = Object(error) as { cause?: unknown; code?: unknown; name?: unknown };
  if (typeof cause === 'object' && cause !== null) return codeOf(cause);
  return typeof code === 'string' ? code : String(name);
}
