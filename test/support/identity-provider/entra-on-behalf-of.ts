import { errors as joseErrors, type JWTPayload } from 'jose';
import type { Context } from 'oidc-provider';
import { entraError, type EntraError } from './entra-errors.js';
import { verifyToken } from './signing-key.js';

/** The user of an On-Behalf-Of request. Throws Entra's error if the user's token cannot be exchanged. */
export async function onBehalfOfSubject(
  issuer: string,
  clientId: string,
  params: Context['oidc']['params'],
): Promise<string> {
  if (params['requested_token_use'] !== 'on_behalf_of') {
    throw entraError(400, 'invalid_request', 900144, "The request body must contain: 'requested_token_use'.");
  }
  const { sub = '', aud, capolids } = await verifyToken(issuer, params['assertion'] ?? '').catch(rejectAssertion);
  if (![aud].flat().includes(clientId) && ![aud].flat().includes(`api://${clientId}`)) {
    throw entraError(
      400,
      'invalid_grant',
      50013,
      'Assertion failed signature validation. [Reason - Audience mismatch.]',
    );
  }
  // A sign-in that requested these claims has met the policy.
  const policy = capolids === 'policy' ? undefined : POLICIES[sub];
  if (policy !== undefined) throw policy();
  return sub;
}

const claims = JSON.stringify({ access_token: { capolids: { essential: true, values: ['policy'] } } });
const POLICIES: Readonly<Record<string, () => EntraError>> = {
  'no-consent': () =>
    entraError(400, 'invalid_grant', 65001, 'The user or administrator has not consented to use the application.', {
      suberror: 'consent_required',
    }),
  'second-factor': () =>
    entraError(400, 'interaction_required', 50076, 'You must use multi-factor authentication.', {
      suberror: 'basic_action',
      claims,
    }),
  policy: () =>
    entraError(400, 'interaction_required', 53003, 'Access has been blocked by Conditional Access policies.', {
      suberror: 'message_only',
      claims,
    }),
};

function rejectAssertion(cause: unknown): JWTPayload {
  if (cause instanceof joseErrors.JWTExpired) {
    throw entraError(400, 'invalid_grant', 500133, 'Assertion is not within its valid time range.');
  }
  if (cause instanceof joseErrors.JWSInvalid) {
    throw entraError(400, 'invalid_request', 50027, 'JWT token is invalid or malformed.');
  }
  throw entraError(400, 'invalid_grant', 50013, 'Assertion failed signature validation.');
}
