/**
 * A message body: a stream of chunks, bytes, text (UTF-8) or null. A Web `ReadableStream` and a Node `Readable` are
 * valid streams as they are.
 *
 * @public
 */
export type HttpBody = AsyncIterable<Uint8Array> | Uint8Array | string | null;

/**
 * Header fields by lower-case name; several fields with the same name are a list (RFC 9110 §5.3).
 *
 * @public
 */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request as the routes read it, independent of the framework that received it. */
export interface HttpRequest extends RequestContext {
  /** In upper case. */
  readonly method: string;
  /** The raw path below the mount point: empty, or starting with `/`. Never decoded. */
  readonly path: string;
  /** The raw query with its `?`, or an empty string. */
  readonly query: string;
  /** The body, in the state the host left it: unread, parsed or consumed. */
  readonly body: HttpBody;
  /** True if a body parser consumed the body without keeping the result. */
  readonly bodyConsumed: boolean;
  /** Scheme, host and mount path the browser used, such as `https://site.example/api/a2a`. */
  readonly publicUrl: string;
  /** Aborted when the browser leaves before the response is complete. */
  readonly signal: AbortSignal;
}

/**
 * The part of a request that identifies the sender: enough for a session library to find the signed-in user.
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
    /**
     * The framework's response, if it is an object separate from the request; for a Web `Request`, an object with Node's
     * `getHeader`, `setHeader` and `appendHeader`, whose fields are sent.
     */
    readonly response?: unknown;
  };
  /**
   * @internal Calls `listener` when the response is over, with true if it was sent, cookies included. Absent if the
   * response is not ours.
   */
  onSent?(listener: (isSent: boolean) => void): void;
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
  /** Fields to send. Beyond these, only the fields HTTP requires are added. */
  readonly headers: HeaderFields;
  /** The body, which may still be streaming. */
  readonly body: HttpBody;
  /** True if only the end of the connection ends the body, so a truncated body looks complete. Default: false. */
  readonly closeDelimited?: boolean;
  /** Milliseconds a browser may accept no bytes while some are waiting, before its connection is closed. Default: 0, no limit. */
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
 * A complete request to the platform: no fields are added after this.
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
  /** Milliseconds to wait for the response head; 0 means no limit. */
  readonly headersMs: number;
  /** Milliseconds of silence allowed in a body that is not an event stream; 0 means no limit. */
  readonly bodyIdleMs: number;
  /** Milliseconds for a whole body that is not an event stream, excluding the time its reader takes. Default: 0, no limit. */
  readonly bodyMs?: number;
  /** Milliseconds of silence allowed in an event stream. Default: 0, no limit. */
  readonly streamIdleMs?: number;
}

/**
 * The outcome of a call to the platform: a response head whose body follows, or the reason for its absence. A body that
 * breaks later throws from its iterator.
 *
 * @public
 */
export type UpstreamOutcome =
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | {
      readonly kind: 'failure';
      /**
       * - `unreachable`: no connection (refused, DNS, TLS)
       * - `timeout`: no response head within the deadline, connected or not
       * - `reset`: the connection ended before the head
       * - `invalid`: the response is not HTTP we accept
       * - `aborted`: our own side gave up (`signal`)
       */
      readonly reason: 'unreachable' | 'timeout' | 'reset' | 'invalid' | 'aborted';
      /** For the server's log only: may name hosts and library codes. */
      readonly log: string;
      /**
       * Set only when it is certain that the platform did not act: `nothing` was sent, or the request was sent on a
       * reused connection that closed without a byte of response. Absent: the platform may have received the request.
       */
      readonly sent?: 'nothing' | 'on-stale-connection';
    };

export type UpstreamFailureReason = Extract<UpstreamOutcome, { readonly kind: 'failure' }>['reason'];

/**
 * Sends one request to the platform and returns once the response head has arrived. Never follows a redirect, never
 * retries, never buffers a body.
 *
 * @public
 */
export interface HttpUpstream {
  /** Resolves with the response head or the reason for its absence; never rejects. */
  send(request: UpstreamRequest): Promise<UpstreamOutcome>;
  /**
   * Closes idle connections and resolves once running requests have finished; new requests may still be sent. With
   * `graceMs`, requests still running after that time are aborted and new ones fail.
   */
  close(options?: { readonly graceMs: number }): Promise<void>;
}
