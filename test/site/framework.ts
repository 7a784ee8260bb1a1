import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RenderCacheOptions, SessionTokenFunction, Toolkit } from 'agent-bff';

/** Node middleware that every framework here can run in front of the routes. */
export type HostMiddleware = (
  request: IncomingMessage & { body?: unknown; rawBody?: unknown },
  response: ServerResponse,
  next: () => void,
) => void;

/** Options of a site in the suite. */
export interface SiteOptions {
  readonly toolkit: Toolkit;
  /** Runs before the routes, and before a body parser. */
  readonly before?: HostMiddleware;
  /** The session source: optional on the widget routes, required for the conversation records. Default: no user is signed in. */
  readonly auth?: SessionTokenFunction;
  /** The cache options of the widget routes. Default: no cache. */
  readonly cache?: RenderCacheOptions;
}

/**
 * A website under test: chat at `/api/a2a`, widgets at `/api/service-surfaces`, conversation records at `/api/service`,
 * both for signed-in users; the card of the chat at the site's root, as in docs/frameworks.md. Any other
 * address answers 200 with the text `host`.
 */
export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

/** One way to serve the routes. To add a framework, write a file with one of these and a line in a test. */
export interface Framework {
  readonly name: string;
  /** True when a body parser of the host reads JSON bodies before the routes do. */
  readonly parsesJson: boolean;
  /** True when the framework's URL parser resolves `..` or drops a fragment before the routes see the path. Default: they get the raw path. */
  readonly resolvesPaths?: boolean;
  /** True when requests reach the routes as Web `Request`s, with resolved paths and without a body parsed by Node middleware. Default false. */
  readonly isWebStandard?: boolean;
  /** True when the host reserializes a query, with the same names and values. Default false. */
  readonly rewritesQuery?: boolean;
  /** True when the host itself refuses a target that is a whole address (RFC 9112 §3.2.2). Default false. */
  readonly refusesWholeTargets?: boolean;
  /** True when the host cannot send a response with a content coding. Default false. */
  readonly sendsPlainOnly?: boolean;
  start(options: SiteOptions): Promise<Site>;
}

/** The session source of a site without users. */
export const nobody: SessionTokenFunction = (_request) => null;

/** The query as the routes receive it. */
export function queryBehind(framework: Framework, query: string): string {
  return framework.rewritesQuery === true ? `?${new URLSearchParams(query).toString()}` : query;
}
