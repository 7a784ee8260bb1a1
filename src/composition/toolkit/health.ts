import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import { isAgentBffError } from '../../domain/shared/errors.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { HealthCheck } from './toolkit-type.js';

/** Milliseconds a check waits for the credential: Kubernetes gives a probe one second. */
const WAIT_MS = 500;

/** Whether there is anything to forward to. */
export function configurationCheck({ agent, serviceApi }: ResolvedConfig): HealthCheck {
  if (agent !== undefined || serviceApi !== undefined) return { status: 'pass' };
  return {
    status: 'fail',
    code: 'service_auth_failed',
    block: 'configureServer',
    fields: ['a2aUrl', 'serviceApiUrl'],
  };
}

/** Whether the service credential is there or can be had; a site for signed-in users only needs none. */
export async function credentialCheck(config: ResolvedConfig, obtain: () => Promise<unknown>): Promise<HealthCheck> {
  const { serviceAuthStrategy, authProvider, serviceAccount, serviceApiKey } = config;
  if (serviceAuthStrategy === '' && authProvider === '' && !serviceAccount.filled && serviceApiKey === undefined) {
    return { status: 'skipped' };
  }
  try {
    await inTime(obtain(), WAIT_MS, 'the identity provider');
    return { status: 'pass' };
  } catch (error) {
    // What it is asked for goes on, for the next check and for visitors.
    if (error instanceof DeadlineError) return { status: 'fail', code: 'identity_provider_unavailable', fields: [] };
    if (!isAgentBffError(error)) return { status: 'fail', code: 'internal_error', fields: [] };
    const { code, block, fields } = error;
    return { status: 'fail', code, ...(block === undefined ? {} : { block }), fields };
  }
}
