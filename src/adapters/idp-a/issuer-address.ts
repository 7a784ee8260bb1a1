import { isLoopback } from '../oauth/loopback.js';

/** What a configured domain stands for. */
export type IssuerAddress =
  { readonly kind: 'issuer'; readonly url: URL } | { readonly kind: 'unusable'; readonly detail: string };

/**
 * Turns a configured domain into the issuer's address: `acme.eu.auth0.com` is `https://acme.eu.auth0.com/`.
 * An address with a path stays as it is, since an issuer is compared letter by letter.
 */
export function issuerAddress(domain: string, allowInsecure: boolean): IssuerAddress {
  const text = domain.trim().replace(/\/\.well-known\/openid-configuration$/, '');
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  // The value itself stays out of every text: somebody may have pasted a secret into the wrong field.
  if (!URL.canParse(address)) return { kind: 'unusable', detail: 'domain is neither a host name nor an address' };
  const url = new URL(address);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { kind: 'unusable', detail: 'domain must have no user, query or fragment' };
  }
  if (url.protocol === 'https:') return { kind: 'issuer', url };
  if (url.protocol === 'http:' && allowInsecure && isLoopback(url.hostname)) return { kind: 'issuer', url };
  return { kind: 'unusable', detail: 'domain must be an https address; http is for tests on this machine' };
}
