import type { RequestContext } from '../../ports/http.js';
import { forwardedFields } from '../upstream/header-policy.js';
import type { Credential } from './credential.js';
import type { CredentialBroker, CredentialAuth } from './credential-broker.js';
import type { RouteFields } from './site-fields.js';

/** Headers the site makes itself for each request. */
export interface HeadersAuth {
  readonly kind: 'headers';
  readonly obtain: (request: RequestContext) => Promise<Credential>;
  readonly fields?: RouteFields | undefined;
}

/** Whose credential a route attaches: one of the broker, or the site's own headers. */
export type RouteAuth = CredentialAuth | HeadersAuth;

/** The credential for one request, of any visitor, with the site's own fields. */
export async function obtainCredential(
  credentials: CredentialBroker,
  auth: RouteAuth,
  request: RequestContext,
): Promise<Credential> {
  const credential = await (auth.kind === 'headers' ? auth.obtain(request) : credentials.obtain(auth, request));
  if (auth.fields === undefined) return credential;
  const { request: names, response, make } = auth.fields;
  const forwarded = forwardedFields(request.headers, names);
  return credential.withFields({ added: (await make?.(request)) ?? {}, forwarded, response });
}

/** Another credential in place of a refused one, with the fields that went along with it; absent when there is nothing to renew. */
export async function renewCredential(
  credentials: CredentialBroker,
  auth: RouteAuth,
  refused: Credential,
  request: RequestContext,
  platformDate: string,
): Promise<Credential | undefined> {
  if (auth.kind === 'headers') return undefined;
  return (await credentials.renew(auth, refused, request, platformDate))?.withFields(refused.fields);
}

/** Whether what a route sends may come from a visitor's session, so that pages of other sites must not even read by it. */
export function mayHoldSession({ kind, fields }: RouteAuth): boolean {
  return kind === 'session' || kind === 'headers' || fields?.make !== undefined;
}
