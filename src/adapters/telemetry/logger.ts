import { checkArgument, methods } from '../../domain/shared/options.js';
import type { EventOf, Telemetry, TelemetryEvent } from '../../ports/telemetry.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

/**
 * Writes every event as one structured line to a logger with pino's interface; pass it to `telemetry`. Requests are
 * `info`, single steps `debug`, problems `warn`, and faults that the site has to fix `error`. Of problems and faults, at
 * most 100 lines a minute for each type of event; the next one has their number as `leftOut`.
 *
 * @throws ConfigurationError (code `configuration_invalid`) naming the methods the logger needs.
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
  checkArgument('loggerTelemetry', 'logger', logger, methods('debug', 'info', 'warn', 'error'));
  const limits = new Map<string, Limit>();
  return {
    chatEvents: true,
    emit: (event) => {
      const { type, ...fields } = event;
      const [level, message] = LINES[type](event as never);
      const isLimited = level === 'warn' || level === 'error';
      const leftOut = isLimited ? linesLeftOut(limits, `${type} ${level}`) : 0;
      if (leftOut === undefined) return;
      // A logger may be an async function.
      return logger[level]({ event: type, ...fields, ...(leftOut > 0 && { leftOut }) }, message);
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

/** The level and the message of each event. */
const LINES: {
  readonly [Type in TelemetryEvent['type']]: (event: EventOf<Type>) => readonly [level: Level, message: string];
} = {
  _OTHER: () => ['debug', 'unknown event'],
  request: ({ method, route, status }) => ['info', `${method} ${route} ${String(status)}`],
  chat: ({ method, state, outcome }) => ['info', `${method} ${state ?? outcome}`],
  error: (event) => [levelOfError(event), `${event.route}: ${event.code}`],
  upstream: ({ method, origin, path, failure, status }) => [
    failure === undefined || failure === 'aborted' ? 'debug' : 'warn',
    `${method} ${origin}${path} ${failure ?? String(status)}`,
  ],
  retry: ({ method, cause }) => ['debug', `${method} sent again: ${cause}`],
  token: ({ block, outcome }) => [TOKEN_LEVEL[outcome], `token of ${block}: ${outcome}`],
  cache: ({ route, outcome }) => ['debug', `${route} cache: ${outcome}`],
  stream_broken: ({ route, side }) => [side === 'upstream' ? 'warn' : 'info', `${route} stream broken by the ${side}`],
  stream_ended: ({ route, outcome }) => ['debug', `${route} stream ended: ${outcome}`],
  cache_fault: ({ operation }) => ['warn', `shared cache: ${operation} failed`],
  warning: ({ code }) => ['warn', code],
};

const TOKEN_LEVEL: Readonly<Record<EventOf<'token'>['outcome'], Level>> = {
  acquired: 'info',
  renewed: 'info',
  stale_served: 'debug',
  backoff: 'warn',
  rejected: 'warn',
};

/** A refusal concerns the visitor. One that names a configuration block, and a failure of our own, concern the operator. */
function levelOfError({ status, block, code }: EventOf<'error'>): Level {
  const isOperators = block !== undefined && (status === 401 || code === 'service_token_rejected');
  return status >= 500 || isOperators ? 'error' : 'warn';
}
