import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RenderCacheOptions, SessionTokenFunction, Toolkit } from 'agent-bff';

/** A middleware over Node's own objects, which every framework here can put in front of the routes. */
export type HostMiddleware = (
  request: IncomingMessage & { body?: unknown; rawBody?: unknown },
  response: ServerResponse,
  next: () => void,
) => void;

/** What a site of the suite is made from. */
export interface SiteOptions {
  readonly toolkit: Toolkit;
  /** Runs before the routes, and before a body parser. */
  readonly before?: HostMiddleware;
  /** Who is signed in, on the widget routes (optionally) and the conversation records (always). Default: nobody. */
  readonly auth?: SessionTokenFunction;
  /** How the widget routes keep renders. Default: not at all. */
  readonly cache?: RenderCacheOptions;
}

/**
 * A website under test: chat at `/api/a2a`, widgets at `/api/service-surfaces`, conversation records at `/api/service`,
 * these two for whoever is signed in; the card of the chat at the site's root, as docs/frameworks.md says; any other
 * address answers 200 with the text `host`.
 */
export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/** One way to serve the routes. Adding a framework is a file with one of these and a line in a test. */
export interface Framework {
  readonly name: string;
  /** True when a body parser of the host reads JSON bodies before the routes do. */
  readonly parsesJson: boolean;
  /** True when the framework's own URL parser resolves `..` or drops a fragment before the routes see the path. Default: they read it raw. */
  readonly resolvesPaths?: boolean;
  /** True when requests reach the routes as Web `Request`s: with resolved paths, and without what Node middleware made of a body. Default false. */
  readonly isWebStandard?: boolean;
  /** True when the host writes a query anew, with the same names and values. Default false. */
  readonly rewritesQuery?: boolean;
  /** True when the host can send no answer with a content coding. Default false. */
  readonly sendsPlainOnly?: boolean;
  start(options: SiteOptions): Promise<Site>;
}

/** The session of a site without users. */
export const nobody: SessionTokenFunction = (_request) => null;

/** What a query becomes before the routes read it. */
export function queryBehind(framework: Framework, query: string): string {
  return framework.rewritesQuery === true ? `?${new URLSearchParams(query).toString()}` : query;
}
