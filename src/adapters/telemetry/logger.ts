import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Writes every event as one structured line to a logger with pino's interface; pass it to `telemetry`. Requests are
 * `info`, single steps `debug`, problems `warn`, and faults that the site has to fix `error`.
 *
 * @example
 * ```ts
 * import { configureServer, loggerTelemetry } from 'agent-bff';
 * import { pino } from 'pino';
 *
 * configureServer({ telemetry: loggerTelemetry(pino()) });
 * ```
 *
 * @public
 */
export function loggerTelemetry(
  logger: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>>,
): Telemetry {
  return {
    emit: (event) => {
      const { type, ...fields } = event;
      logger[levelOf(event)]({ event: type, ...fields }, messageOf(event));
    },
  };
}

function levelOf(event: TelemetryEvent): Level {
  switch (event.type) {
    case 'request':
      return 'info';
    case 'error':
      return levelOfError(event);
    case 'upstream':
      return event.failure === undefined || event.failure === 'aborted' ? 'debug' : 'warn';
    case 'token':
      return TOKEN_LEVEL[event.outcome];
    case 'cache':
    case 'retry':
    case 'stream_ended':
      return 'debug';
    case 'stream_broken':
      return event.side === 'upstream' ? 'warn' : 'info';
    case 'cache_fault':
    case 'warning':
      return 'warn';
  }
}

const TOKEN_LEVEL: Readonly<Record<Extract<TelemetryEvent, { type: 'token' }>['outcome'], Level>> = {
  acquired: 'info',
  renewed: 'info',
  stale_served: 'debug',
  backoff: 'warn',
  rejected: 'warn',
};

/** A refusal concerns the visitor. One that names a configuration block, and a failure of our own, concern the operator. */
function levelOfError({ status, block, code }: Extract<TelemetryEvent, { type: 'error' }>): Level {
  const isOperators = block !== undefined && (status === 401 || code === 'service_token_rejected');
  return status >= 500 || isOperators ? 'error' : 'warn';
}

function messageOf(event: TelemetryEvent): string {
  switch (event.type) {
    case 'request':
      return `${event.method} ${event.route} ${String(event.status)}`;
    case 'error':
      return `${event.route}: ${event.code}`;
    case 'upstream':
      return `${event.method} ${event.origin}${event.path} ${event.failure ?? String(event.status)}`;
    case 'retry':
      return `${event.method} sent again: ${event.cause}`;
    case 'token':
      return `token of ${event.block}: ${event.outcome}`;
    case 'cache':
      return `${event.route} cache: ${event.outcome}`;
    case 'stream_broken':
      return `${event.route} stream broken by the ${event.side}`;
    case 'stream_ended':
      return `${event.route} stream ended: ${event.outcome}`;
    case 'cache_fault':
      return `shared cache: ${event.operation} failed`;
    case 'warning':
      return event.code;
  }
}
