/** Controls, and a backslash, which browsers read as a slash: what such an address leads to is not what it says. */
const UNREADABLE = /[\\\p{Cc}]/u;
const OF_THE_WEB = /^(?:https?:\/\/(?!\/|[^/?#]*@)|mailto:|tel:)/i;
/** Not `//`, which leads to another site. */
const OF_THE_SITE = /^(?:\/(?!\/)|[?#])/;

/** The addresses that links lead to: of the web, or also of the site itself as written relative to its root. */
export type LinksTo = 'web' | 'site';

/** True if an address as an agent wrote it may become a link. */
export function isLinkAddress(href: string, linksTo: LinksTo): boolean {
  if (UNREADABLE.test(href)) return false;
  return OF_THE_WEB.test(href) || (linksTo === 'site' && OF_THE_SITE.test(href) && isOfSite(href));
}

/** True if a browser opens the address on the site itself. */
export function isOfSite(href: string): boolean {
  return URL.canParse(href, document.baseURI) && new URL(href, document.baseURI).origin === location.origin;
}
