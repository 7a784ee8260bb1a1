import type { HttpRequest } from '../../ports/http.js';
import type { Credential } from './credential.js';
import type { CredentialBroker, CredentialPlan } from './credential-broker.js';

/** What of a request decides which credential it gets. */
export type CallerRequest = Pick<HttpRequest, 'headers' | 'native'>;

/** Headers the site makes itself for each request. */
export interface HeadersPlan {
  readonly kind: 'headers';
  readonly obtain: (request: CallerRequest) => Promise<Credential>;
}

/** Whose credential a route attaches: one of the broker, or the site's own headers. */
export type RoutePlan = CredentialPlan | HeadersPlan;

/** The credential for one request, whoever makes it. */
export function obtainCredential(
  credentials: CredentialBroker,
  plan: RoutePlan,
  request: CallerRequest,
): Promise<Credential> {
  return plan.kind === 'headers' ? plan.obtain(request) : credentials.obtain(plan, request);
}
