import type { HttpBody } from '../domain/shared/body.js';

export type { HttpBody };

/**
 * Header fields by lower-case name; several fields of one name are a list (RFC 9110 §5.3).
 *
 * @public
 */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as the routes read it, whatever framework received it. */
export interface HttpRequest extends RequestContext {
  /** In upper case. */
  readonly method: string;
  /** The raw path below the mount point: empty, or starting with `/`. Never decoded. */
  readonly path: string;
  /** The raw query with its `?`, or an empty string. */
  readonly query: string;
  /** The body in whatever state the host left it. */
  readonly body: HttpBody;
  /** Whether something in front read the body and left nothing of it. */
  readonly bodyConsumed: boolean;
  /** Scheme, host and mount path the browser used, such as `https://site.example/api/a2a`. */
  readonly publicUrl: string;
  /** Aborted when the browser leaves before the response is complete. */
  readonly signal: AbortSignal;
}

/**
 * What of a request tells who sent it: enough for a session library to find the signed-in user.
 *
 * @public
 */
export interface RequestContext {
  /** The browser's header fields, cookies included. */
  readonly headers: HeaderFields;
  /** The framework's own objects, untouched (Express `req` and `res`, a Web `Request`, a Koa context), for libraries that need them. */
  readonly native: {
    /** The framework's request or context. */
    readonly request: unknown;
    /** The framework's response, where there is one beside the request. */
    readonly response?: unknown;
  };
}

export type NativeRequest = RequestContext['native'];

/**
 * A response as the routes build it; `set-cookie` may be a list and stays one.
 *
 * @public
 */
export interface HttpResponse {
  /** From 200 to 599. */
  readonly status: number;
  /** Fields to send; nothing is added behind this type but what HTTP itself needs. */
  readonly headers: HeaderFields;
  /** The body, perhaps still coming. */
  readonly body: HttpBody;
  /** Whether only the end of a connection ends the body, so that one that was cut looks like a whole one. Default: false. */
  readonly closeDelimited?: boolean;
  /** Milliseconds a browser may take nothing while bytes wait for it, before its connection is cut. Default: 0, which allows any. */
  readonly sendIdleMs?: number;
}

/** Responds to one request; never rejects. Every framework adapter is a translation to and from this function. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** One handler and the path it is mounted at, such as `/api/a2a`. */
export interface MountedHandler {
  readonly mount: string;
  readonly handler: HttpHandler;
}

/**
 * A request to the platform, complete: nothing is added behind this type.
 *
 * @public
 */
export interface UpstreamRequest {
  /** In upper case. */
  readonly method: string;
  /** Scheme, host and port, such as `https://agent.example`. */
  readonly origin: string;
  /** Raw path and query, starting with `/`. */
  readonly path: string;
  /** Fields to send, credential included. */
  readonly headers: HeaderFields;
  /** The body to send. */
  readonly body: HttpBody;
  /** Ends the exchange when the browser leaves. */
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the response head; 0 waits for ever. */
  readonly headersMs: number;
  /** Milliseconds of silence allowed inside a body that is no event stream; 0 allows any. */
  readonly bodyIdleMs: number;
  /** Milliseconds for a whole body that is no event stream, without the time its reader takes. Default: 0, which allows any. */
  readonly bodyMs?: number;
  /** Milliseconds of silence allowed inside an event stream. Default: 0, which allows any. */
  readonly streamIdleMs?: number;
}

/**
 * The outcome of a call to the platform: a response head with its body to come, or the reason why there is none.
 * A body that breaks later throws from its iterator.
 *
 * @public
 */
export type UpstreamOutcome =
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | {
      readonly kind: 'failure';
      /**
       * - `unreachable`: no connection (refused, DNS, TLS)
       * - `timeout`: connected or connecting, no head within the deadline
       * - `reset`: the connection ended before the head
       * - `invalid`: what came back is not HTTP we accept
       * - `aborted`: our own side gave up (`signal`)
       */
      readonly reason: 'unreachable' | 'timeout' | 'reset' | 'invalid' | 'aborted';
      /** For the server's log only: may name hosts and library codes. */
      readonly detail: string;
      /**
       * How far the request got, where that is known for sure: `nothing` of it was sent; or it was sent on a connection that had served before,
       * and that ended without a byte of a response. Absent: the platform may have seen it.
       */
      readonly sent?: 'nothing' | 'on-stale-connection';
    };

export type UpstreamFailureReason = Extract<UpstreamOutcome, { readonly kind: 'failure' }>['reason'];

/**
 * Sends one request to the platform and returns as soon as the response head is there.
 * Never follows a redirect, never retries, never buffers a body.
 *
 * @public
 */
export interface HttpUpstream {
  /** Resolves with the response head, or with the reason why there is none; never rejects. */
  send(request: UpstreamRequest): Promise<UpstreamOutcome>;
  /**
   * Ends idle connections, and resolves when running requests have finished; a request may still be sent.
   * With `graceMs`, what still runs after so many milliseconds is broken off, and nothing is sent any more.
   */
  close(options?: { readonly graceMs: number }): Promise<void>;
}
