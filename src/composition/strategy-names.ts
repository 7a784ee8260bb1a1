import { ConfigurationError } from '../domain/errors.js';
import { nearest } from './nearest.js';

/** The service strategies this package brings (DESIGN §3). */
export const STRATEGIES: readonly string[] = ['service_account', 'resource_owner_password', 'client_credentials'];

/** @throws ConfigurationError naming the field and the nearest known value, when a value is neither empty nor known. */
export function checkName(field: string, value: string | undefined, known: readonly string[]): void {
  if (value === undefined || value === '' || known.includes(value)) return;
  throw new ConfigurationError({
    detail: `"${field}" has a value this package does not know.`,
    hint: `Did you mean "${nearest(value, known)}"? Known values: ${known.join(', ')}.`,
    block: 'configureServer',
    fields: [field],
  });
}

/** @throws ConfigurationError when a strategy given to a handler is none of the known ones. */
export function checkStrategy(strategy: string | undefined, customProviders: ReadonlySet<string>): void {
  checkName('strategy', strategy, [...STRATEGIES, ...customProviders]);
}
