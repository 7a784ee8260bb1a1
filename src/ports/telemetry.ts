/**
 * A single event. Its fields never contain a secret or token, nor a body, except for the start of one in which the
 * platform explains an error. `requestId` is set whenever an event belongs to one request; error responses carry the
 * same id. `toolkit` is the `name` of the toolkit that reports it.
 *
 * @public
 */
export type TelemetryEvent = { readonly toolkit?: string } & (
  | {
      /** Never sent. Stands for the types that a minor version may add: ignore those you do not know. */
      readonly type: '_OTHER';
      readonly requestId?: string;
    }
  | {
      readonly type: 'request';
      readonly requestId: string;
      readonly route: string;
      readonly method: string;
      readonly status: number;
      /** Milliseconds until the response head was ready. */
      readonly durationMs: number;
      /** True if an event stream follows; `stream_ended` reports its end. Default: false. */
      readonly streams?: boolean;
      /** True if the body is still coming and a `chat` event follows. Default: false. */
      readonly continues?: boolean;
    }
  | {
      /** The end of a chat call, for listeners with `chatEvents`. */
      readonly type: 'chat';
      readonly requestId: string;
      readonly route: string;
      /** The A2A method under its name in v1.0, such as `SendMessage`; `_OTHER` for one that no version defines. */
      readonly method: string;
      /** Digest of the visitor, with `conversations: 'visitor'`: the same for one visitor, and keyed, so that it cannot be guessed. */
      readonly visitor?: string;
      /** Digest of the conversation, as the response or else the message names it. */
      readonly context?: string;
      /** Digest of the task. */
      readonly task?: string;
      /** The last state of the task. Absent if the agent named none. */
      readonly state?:
        'submitted' | 'working' | 'completed' | 'failed' | 'canceled' | 'rejected' | 'input-required' | 'auth-required';
      /** The code of a JSON-RPC error in the response. */
      readonly errorCode?: number;
      /** As in `stream_ended`. */
      readonly outcome: 'complete' | 'upstream' | 'browser' | 'site';
      /** Milliseconds from the message to the end of the response. */
      readonly durationMs: number;
      /** Milliseconds from the message to the first event of a stream. */
      readonly firstEventMs?: number;
      /** Number of events in a stream; 0 for a finished response. */
      readonly events: number;
      /** Bytes of the response. */
      readonly bytes: number;
      /** The use of a model, if the agent reports it in the metadata of its last answer. */
      readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
    }
  | {
      readonly type: 'stream_ended';
      readonly requestId: string;
      readonly route: string;
      /** The party that ended it: the agent finished; the platform broke it; the browser left; or the site shut down. */
      readonly outcome: 'complete' | 'upstream' | 'browser' | 'site';
      /** Milliseconds from the start of the request. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'error';
      readonly requestId: string;
      readonly route: string;
      readonly status: number;
      readonly code: string;
      /** The text the visitor reads: what happened, and what to do. */
      readonly summary: string;
      /**
       * For operators, at most 2,048 characters. May name hosts, paths and provider codes, and quote the platform;
       * never contains a secret.
       */
      readonly detail: string;
      readonly block?: string;
      readonly fields?: readonly string[];
    }
  | {
      readonly type: 'upstream';
      readonly requestId?: string;
      /** The id passed to `callStarted`. */
      readonly callId: string;
      readonly method: string;
      readonly origin: string;
      /** Without its query. */
      readonly path: string;
      /** Status of the response; absent when there was none. */
      readonly status?: number;
      /** The reason for a missing response: `unreachable`, `timeout`, `reset`, `invalid`, or `aborted` by the browser. */
      readonly failure?: string;
      /** Milliseconds until the response head, or the failure. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'retry';
      readonly requestId?: string;
      readonly method: string;
      /** The reason why retrying cannot repeat an effect. */
      readonly cause: 'no_connection' | 'stale_connection';
      readonly detail: string;
    }
  | {
      readonly type: 'token';
      readonly requestId?: string;
      readonly outcome: 'acquired' | 'renewed' | 'stale_served' | 'backoff' | 'rejected';
      readonly block: string;
      readonly durationMs?: number;
      readonly detail?: string;
    }
  | {
      readonly type: 'cache';
      readonly requestId?: string;
      readonly route: string;
      /** The source of the render. */
      readonly outcome: 'hit' | 'revalidated' | 'miss' | 'bypass';
    }
  | {
      readonly type: 'stream_broken';
      readonly requestId?: string;
      readonly route: string;
      /** The party that broke it: the platform, the browser that left, or the site shutting down. */
      readonly side: 'upstream' | 'browser' | 'site';
      readonly detail: string;
    }
  | {
      readonly type: 'cache_fault';
      readonly requestId?: string;
      readonly operation: 'get' | 'set' | 'delete' | 'open';
      readonly detail: string;
    }
  | {
      readonly type: 'warning';
      readonly requestId?: string;
      readonly code: string;
      readonly detail: string;
      /** For warnings that replace an error: what happened and what to do (repeated at the start of `detail`), and what to check. */
      readonly summary?: string;
      readonly block?: string;
      readonly fields?: readonly string[];
    }
);

/** The event of one type. */
export type EventOf<Type extends TelemetryEvent['type']> = Extract<TelemetryEvent, { readonly type: Type }>;

/**
 * Receives events as they happen. Must return immediately; exceptions and rejections are ignored.
 *
 * @public
 */
export interface Telemetry {
  /** Receives one event. */
  emit(event: TelemetryEvent): void;
  /** True to receive `chat` events, for which responses of the agent are read. Default: false. */
  readonly chatEvents?: boolean;
  /** Runs the work of one request, exactly once, so that events and spans inside can be attributed to it. Default: runs it directly. */
  readonly runRequest?: <Result>(
    request: {
      /** The id that events and error responses carry. */
      readonly requestId: string;
      /** In upper case. */
      readonly method: string;
      /** Lower-case names, as the browser sent them. */
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      /** Scheme, host and path at which the route is mounted, such as `https://site.example/api/a2a`. */
      readonly publicUrl: string;
      /** The path below `publicUrl`, without its query. */
      readonly path: string;
    },
    work: () => Result,
  ) => Result;
  /**
   * Returns fields to send with a call to the platform, such as `traceparent`. Default: none; the browser's own trace
   * fields are forwarded.
   */
  readonly callStarted?: (call: {
    /** The id that the call's `upstream` event carries. */
    readonly callId: string;
    /** In upper case. */
    readonly method: string;
    /** Scheme, host and port. */
    readonly origin: string;
    /** Without its query. */
    readonly path: string;
  }) => Readonly<Record<string, string>>;
  /**
   * Sends a call to the platform, exactly once, after `callStarted`: other instrumentation of the process may be kept from
   * observing the same call. Default: sends it directly.
   */
  readonly runCall?: <Result>(send: () => Result) => Result;
}

export type ObservedRequest = Parameters<NonNullable<Telemetry['runRequest']>>[0];

export type ObservedCall = Parameters<NonNullable<Telemetry['callStarted']>>[0];
