import type { HeaderFields, RequestContext } from '../../ports/http.js';

/** Header fields of the site's own on one route, besides those that always cross (decision 91). Names are in lower case. */
export interface RouteFields {
  /** Fields of the browser that go upstream too. */
  readonly request: readonly string[];
  /** Fields of the platform that go to the browser too. */
  readonly response: readonly string[];
  /** Fields the site makes for each request; absent when it makes none. */
  readonly make?: (request: Pick<RequestContext, 'native'>) => Promise<HeaderFields>;
}

/** The same for one request. */
export interface SiteFields {
  /** What the site made. */
  readonly added: HeaderFields;
  /** What the browser sent of the fields that go upstream too: strangers choose these values. */
  readonly forwarded: HeaderFields;
  readonly response: readonly string[];
}
