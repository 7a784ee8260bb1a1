import { ConfigurationError, ServiceAuthError } from '../errors.js';

/** An address of the platform, split once so that no request parses it again. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path as configured; `/` when there is none. */
  readonly path: string;
}

/**
 * Splits a configured address.
 *
 * @throws ConfigurationError when it is no absolute http or https address, or carries user names, a query or a fragment.
 */
export function endpoint(field: string, address: string): Endpoint {
  const trimmed = address.trim();
  const parts = /^(https?:\/\/)([^/?#\\@\s]+)(\/(?:(?![?#\\])[\x21-\x7e])*)?$/i.exec(trimmed);
  if (parts === null || !URL.canParse(trimmed)) {
    throw new ConfigurationError({
      detail: `Invalid URL in "${field}".`,
      hint: `Set "${field}" to an absolute http or https address without user name, query or fragment, such as https://platform.example/a2a.`,
      block: 'configureServer',
      fields: [field],
    });
  }
  return { origin: `${(parts[1] ?? '').toLowerCase()}${parts[2] ?? ''}`, path: parts[3] ?? '/' };
}

/**
 * The endpoint, or the error a visitor gets while the site has not configured it (a missing field is reported when it is first needed).
 *
 * @throws ServiceAuthError naming the field.
 */
export function requireEndpoint(field: string, known: Endpoint | undefined): Endpoint {
  if (known !== undefined) return known;
  throw new ServiceAuthError('service_auth_failed', {
    detail: `The server does not know the address of the ${field === 'a2aUrl' ? 'agent' : 'platform'}.`,
    hint: `Set "${field}" in configureServer.`,
    block: 'configureServer',
    fields: [field],
  });
}
