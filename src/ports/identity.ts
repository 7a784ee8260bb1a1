/**
 * The two sides of an identity: a secret can be rotated while its owner stays the same.
 *
 * @public
 */
export interface Identity {
  /**
   * The owner: account, claims, domain, tenant, client, user name, audience, scope. Holds no secret, is not empty, and is the same text in every process of the site.
   * Renders and agent cards are cached by it, so two owners must never share one.
   */
  readonly principal: string;
  /** A text that changes with the secret, key or certificate and reveals nothing of it; empty where there is none. Tokens are cached by principal and proof. */
  readonly proof: string;
}
