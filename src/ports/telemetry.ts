/**
 * What happened, one event at a time. No field of an event ever holds a secret, a token or a body.
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
    }
  | {
      readonly type: 'error';
      readonly requestId: string;
      readonly route: string;
      readonly status: number;
      readonly code: string;
      /** For operators: may name hosts, paths and provider codes; never a secret. */
      readonly detail: string;
      readonly block?: string;
      readonly fields?: readonly string[];
    }
  | {
      readonly type: 'token';
      readonly outcome: 'acquired' | 'renewed' | 'stale_served' | 'backoff' | 'rejected';
      readonly block: string;
      readonly durationMs?: number;
      readonly detail?: string;
    }
  | {
      readonly type: 'stream_broken';
      readonly route: string;
      /** Who broke it: the platform, or the browser that left. */
      readonly side: 'upstream' | 'browser';
      readonly detail: string;
    }
  | { readonly type: 'cache_fault'; readonly operation: 'get' | 'set' | 'delete' | 'open'; readonly detail: string }
  | { readonly type: 'warning'; readonly code: string; readonly detail: string };

/**
 * Takes events as they happen. Must return at once and must not throw.
 *
 * @public
 */
export interface Telemetry {
  /** Takes one event. */
  emit(event: TelemetryEvent): void;
}
