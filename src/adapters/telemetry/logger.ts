import type { Telemetry, TelemetryEvent } from '../../ports/telemetry.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Writes every event as one structured line to a logger with pino's interface; pass it to `telemetry`. Requests are
 * `info`, single steps `debug`, problems `warn`, and faults that the site has to fix `error`. Of problems and faults, at
 * most 100 lines a minute for each type of event; the next one has their number as `leftOut`.
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
  const limits = new Map<string, Limit>();
  return {
    chatEvents: true,
    emit: (event) => {
      const { type, ...fields } = event;
      const level = levelOf(event);
      const isLimited = level === 'warn' || level === 'error';
      const leftOut = isLimited ? linesLeftOut(limits, `${type} ${level}`) : 0;
      if (leftOut === undefined) return;
      logger[level]({ event: type, ...fields, ...(leftOut > 0 && { leftOut }) }, messageOf(event));
    },
  };
}

const MAX_LINES = 100;
const MINUTE_MS = 60_000;

/** The lines of one kind since a time. */
interface Limit {
  readonly since: number;
  lines: number;
}

/** The number of lines left out before this one; `undefined` if it is to be left out too. */
function linesLeftOut(limits: Map<string, Limit>, kind: string): number | undefined {
  const now = performance.now();
  const last = limits.get(kind);
  if (last !== undefined && now < last.since + MINUTE_MS) {
    last.lines += 1;
    return last.lines > MAX_LINES ? undefined : 0;
  }
  limits.set(kind, { since: now, lines: 1 });
  return last === undefined ? 0 : Math.max(0, last.lines - MAX_LINES);
}

function levelOf(event: TelemetryEvent): Level {
  switch (event.type) {
    case 'request':
    case 'chat':
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
    case 'chat':
      return `${event.method} ${event.state ?? event.outcome}`;
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
