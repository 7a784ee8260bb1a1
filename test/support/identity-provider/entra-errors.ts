import { randomUUID } from 'node:crypto';
import { errors, type Context } from 'oidc-provider';

/** An error with Entra's text, and the body Entra sends with it. */
export interface EntraError extends Error {
  readonly body: EntraErrorBody;
}

interface EntraErrorBody {
  readonly error: string;
  readonly error_description: string;
  readonly error_codes: readonly number[];
  readonly timestamp: string;
  readonly trace_id: string;
  readonly correlation_id: string;
  readonly suberror?: string;
  readonly claims?: string;
}

/** Creates an error with an Entra error number. `more` is added to the body. */
export function entraError(
  status: number,
  error: string,
  code: number,
  text: string,
  more: { readonly suberror?: string; readonly claims?: string } = {},
): EntraError {
  const body = bodyOf(error, code, text, more);
  const failure = new errors.CustomOIDCProviderError(error, body.error_description);
  thrown.set(body.error_description, body);
  return Object.assign(failure, { status, statusCode: status, body });
}

// oidc-provider keeps only an error's description. Its random ids identify the full error again.
const thrown = new Map<string, EntraErrorBody>();

/** Replaces an error response of the provider with Entra's text, number and extra members. */
export function speakLikeEntra(context: Context, tenant: string): void {
  const body = context.body as { error?: string; error_description?: string } | undefined;
  if (body?.error === undefined || context.oidc.route !== 'token') return;
  const kept = thrown.get(body.error_description ?? '');
  if (kept !== undefined) {
    thrown.delete(kept.error_description);
    context.body = kept;
    return;
  }
  const [status, error, code, text] = translate(context, body.error, tenant);
  context.status = status;
  context.body = bodyOf(error, code, text, {});
}

function translate(context: Context, error: string, tenant: string): [number, string, number, string] {
  const { params, entities } = context.oidc;
  const id = params['client_id'] ?? '';
  if (error === 'invalid_client') {
    if (entities.Client === undefined) {
      return [
        400,
        'unauthorized_client',
        700016,
        `Application with identifier '${id}' was not found in the directory '${tenant}'.`,
      ];
    }
    if (params['client_assertion'] !== undefined) {
      return [
        401,
        error,
        700027,
        'The certificate with identifier used to sign the client assertion is not registered on application.',
      ];
    }
    return entities.Client.clientSecretExpiresAt
      ? [401, error, 7000222, `The provided client secret keys for app '${id}' are expired.`]
      : [
          401,
          error,
          7000215,
          `Invalid client secret provided. Ensure the secret being sent is the value, not its ID. App '${id}'.`,
        ];
  }
  if (error === 'unsupported_grant_type') return [400, error, 70003, 'The app requested an unsupported grant type.'];
  return [400, error, 900144, 'The request body is not valid.'];
}

function bodyOf(error: string, code: number, text: string, more: object): EntraErrorBody {
  const trace = randomUUID();
  const correlation = randomUUID();
  const timestamp = new Date().toISOString();
  return {
    error,
    error_description: `AADSTS${code}: ${text} Trace ID: ${trace} Correlation ID: ${correlation} Timestamp: ${timestamp}`,
    error_codes: [code],
    timestamp,
    trace_id: trace,
    correlation_id: correlation,
    ...more,
  };
}
