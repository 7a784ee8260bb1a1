import { CertificateFile } from '../../adapters/keys/certificate.js';
import type { Clock } from '../../ports/clock.js';
import type { TokenExchange } from '../../ports/token-exchange.js';
import type { Identities } from './identity-module.js';
import type { ResolvedConfig } from '../config/resolve-config.js';

/** The exchange of users' tokens a configuration asks for; its library is loaded with the first token. */
export function tokenExchange(config: ResolvedConfig, identities: Identities, clock: Clock): TokenExchange {
  let loading: Promise<TokenExchange> | undefined;
  const load = (): Promise<TokenExchange> => {
    loading ??= make(config, identities, clock).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    fingerprint: async () => (await load()).fingerprint(),
    exchange: async (request, now) => (await load()).exchange(request, now),
  };
}

async function make(
  { onBehalfOf, idpA, timeouts }: ResolvedConfig,
  { fetch, fingerprintKey, telemetry }: Identities,
  clock: Clock,
): Promise<TokenExchange> {
  const timeoutMs = timeouts.identityProviderMs;
  if (onBehalfOf.provider === 'idp_a') {
    const { IdpATokenExchange } = await import('../../adapters/idp-a/idp-a.js');
    const { domain, clientId, clientSecret } = idpA;
    return new IdpATokenExchange({
      domain,
      clientId,
      clientSecret,
      ...onBehalfOf.idpA,
      timeoutMs,
      fetch,
      fingerprintKey,
      allowInsecure: true,
    });
  }
  const { IdpBTokenExchange } = await import('../../adapters/idp-b/idp-b.js');
  const { certificatePath, privateKeyPath, ...application } = onBehalfOf.idpB;
  const hasCertificate = certificatePath !== '' || privateKeyPath !== '';
  return new IdpBTokenExchange({
    ...application,
    certificate: hasCertificate
      ? new CertificateFile({
          certificatePath,
          privateKeyPath,
          block: 'idpBService',
          clock,
          onWarning: (warning) => telemetry.emit({ type: 'warning', ...warning }),
        })
      : undefined,
    timeoutMs,
    fetch,
    fingerprintKey,
  });
}
