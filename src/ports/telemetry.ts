/**
 * What happened, one event at a time. No field of an event ever holds a secret or a token, nor a body but the start of one by which the platform explains an error.
 * `requestId` is there wherever an event belongs to one request: error responses carry the same name.
 *
 * @public
 */
export type TelemetryEvent =
  | {
      readonly type: 'request';
      readonly requestId: string;
      readonly route: string;
      readonly method: string;
      readonly status: number;
      /** Milliseconds until the response head was ready. */
      readonly durationMs: number;
      /** Whether a stream of events follows, whose end is the event `stream_ended`. Default: false. */
      readonly streams?: boolean;
    }
  | {
      readonly type: 'stream_ended';
      readonly requestId: string;
      readonly route: string;
      /** Who ended it: the agent, which sent all of it; the platform, which broke it; the browser that left; or the site, which shuts down. */
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
      /** What the visitor is told: what happened, and what to do. */
      readonly summary: string;
      /** For operators, at most 2,048 characters: may name hosts, paths and provider codes, and quote what the platform said; never a secret. */
      readonly detail: string;
      readonly block?: string;
      readonly fields?: readonly string[];
    }
  | {
      readonly type: 'upstream';
      readonly requestId?: string;
      /** The name `callStarted` was given. */
      readonly callId: string;
      readonly method: string;
      readonly origin: string;
      /** Without its query. */
      readonly path: string;
      /** Status of the response; absent when there was none. */
      readonly status?: number;
      /** Why there was no response: `unreachable`, `timeout`, `reset`, `invalid`, or `aborted` by the browser. */
      readonly failure?: string;
      /** Milliseconds until the head of the response, or the failure. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'retry';
      readonly requestId?: string;
      readonly method: string;
      /** Why a second try can do nothing twice. */
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
      /** Where the render came from. */
      readonly outcome: 'hit' | 'revalidated' | 'miss' | 'bypass';
    }
  | {
      readonly type: 'stream_broken';
      readonly requestId?: string;
      readonly route: string;
      /** Who broke it: the platform, the browser that left, or the site, which shuts down. */
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
      /** Where it stands for an error: what happened and what to do, with which `detail` begins then; and what to check. */
      readonly summary?: string;
      readonly block?: string;
      readonly fields?: readonly string[];
    };

/**
 * Takes events as they happen. Must return immediately; what it throws is lost.
 *
 * @public
 */
export interface Telemetry {
  /** Takes one event. */
  emit(event: TelemetryEvent): void;
  /** Runs the work of one request, exactly once, so that what happens inside can be told to belong to it. Default: just runs it. */
  readonly runRequest?: <Result>(
    request: {
      /** The name events and error responses will carry. */
      readonly requestId: string;
      /** In upper case. */
      readonly method: string;
      /** Lower-case names, as the browser sent them. */
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
    },
    work: () => Result,
  ) => Result;
  /** Gives fields to send along with a call to the platform, such as `traceparent`. Default: none, and the browser's own cross. */
  readonly callStarted?: (call: {
    /** The name the call's `upstream` event will carry. */
    readonly callId: string;
    /** In upper case. */
    readonly method: string;
    /** Scheme, host and port. */
    readonly origin: string;
  }) => Readonly<Record<string, string>>;
}

export type ObservedRequest = Parameters<NonNullable<Telemetry['runRequest']>>[0];

export type ObservedCall = Parameters<NonNullable<Telemetry['callStarted']>>[0];
