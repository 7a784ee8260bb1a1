import { similar } from '../../domain/shared/nearest.js';
import type { ServiceAuthStrategy } from './server-config.js';

/** The service strategies this package brings (spec §5). */
export const STRATEGIES: readonly ServiceAuthStrategy[] = [
  'service_account',
  'resource_owner_password',
  'client_credentials',
];

/** What to do about a name that is none of the known ones; `undefined` when it is. */
export function nameHint(name: unknown, known: readonly string[]): string | undefined {
  if (known.some((one) => one === name)) return undefined;
  const near = typeof name === 'string' ? similar(name, known) : undefined;
  return `${near === undefined ? '' : `Did you mean "${near}"? `}Known values: ${known.join(', ')}.`;
}
