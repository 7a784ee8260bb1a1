import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loggerTelemetry } from '../../../src/adapters/telemetry/logger.js';
import type { TelemetryEvent } from '../../../src/ports/telemetry.js';
import { telemetryContract } from '../../contracts/telemetry.contract.js';

/** Lines that pino writes for some events. */
function written(...events: TelemetryEvent[]): Record<string, unknown>[] {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  const telemetry = loggerTelemetry(pino({ level: 'trace', base: null, timestamp: false }, sink));
  for (const event of events) telemetry.emit(event);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 };
const error = {
  type: 'error',
  requestId: 'r-1',
  route: 'chat',
  status: 500,
  code: 'upstream_unreachable',
  summary: 's',
  detail: 'd',
} as const;
const call = {
  type: 'upstream',
  callId: 'c-1',
  method: 'POST',
  origin: 'https://agent.example',
  path: '/a2a',
  durationMs: 3,
} as const;

telemetryContract('a logger', () => loggerTelemetry(pino({ level: 'silent' })));

describe('a line of the log', () => {
  it('has the fields of the event and a readable message', () => {
    const request = {
      type: 'request',
      requestId: 'r-1',
      route: 'chat',
      method: 'POST',
      status: 200,
      durationMs: 12,
    } as const;
    const { type, ...fields } = request;
    expect(written(request)).toEqual([{ level: LEVELS.info, event: type, ...fields, msg: 'POST chat 200' }]);
  });

  it('names the outcome of an answer, a call and a stream', () => {
    const { type, durationMs, ...ids } = { type: 'chat', requestId: 'r-1', route: 'chat', durationMs: 1 } as const;
    const chat = { type, durationMs, ...ids, method: 'SendMessage', outcome: 'complete', events: 1, bytes: 1 } as const;
    expect(
      written(
        chat,
        { ...chat, state: 'completed' },
        { ...call, status: 200 },
        { ...call, failure: 'timeout' },
        { type: 'stream_ended', ...ids, outcome: 'browser', durationMs },
      ).map(({ msg }) => msg),
    ).toEqual([
      'SendMessage complete',
      'SendMessage completed',
      'POST https://agent.example/a2a 200',
      'POST https://agent.example/a2a timeout',
      'chat stream ended: browser',
    ]);
    expect(loggerTelemetry(pino({ level: 'silent' })).chatEvents).toBe(true);
  });

  it.each<[string, TelemetryEvent, keyof typeof LEVELS]>([
    ['a failed response', error, 'error'],
    ['a credential to fix', { ...error, status: 401, code: 'service_auth_failed', block: 'idpA' }, 'error'],
    ['a credential without a role', { ...error, status: 403, code: 'service_token_rejected', block: 'idpA' }, 'error'],
    [
      'a visitor without permission',
      { ...error, status: 404, code: 'upstream_error', block: 'configureServer' },
      'warn',
    ],
    ['a visitor who is not signed in', { ...error, status: 401, code: 'session_required' }, 'warn'],
    ['a successful call', { ...call, status: 200 }, 'debug'],
    ['a call without a response', { ...call, failure: 'timeout' }, 'warn'],
    ['a call of a browser that left', { ...call, failure: 'aborted' }, 'debug'],
    ['a new token', { type: 'token', outcome: 'acquired', block: 'idpA', durationMs: 2 }, 'info'],
    ['a token that was refused', { type: 'token', outcome: 'rejected', block: 'idpA' }, 'warn'],
    ['a provider that is not asked again yet', { type: 'token', outcome: 'backoff', block: 'idpA' }, 'warn'],
    ['a cache hit', { type: 'cache', route: 'surface', outcome: 'hit' }, 'debug'],
    ['a second attempt', { type: 'retry', method: 'GET', cause: 'no_connection', detail: 'ECONNREFUSED' }, 'debug'],
    ['a stream the platform broke', { type: 'stream_broken', route: 'chat', side: 'upstream', detail: 'd' }, 'warn'],
    ['a stream the browser left', { type: 'stream_broken', route: 'chat', side: 'browser', detail: 'd' }, 'info'],
    ['a store that is down', { type: 'cache_fault', operation: 'get', detail: 'down' }, 'warn'],
    ['a warning', { type: 'warning', code: 'clock_skew', detail: 'd' }, 'warn'],
  ])('has its own level for %s', (_what, event, level) => {
    const [line] = written(event);
    expect(line).toMatchObject({ level: LEVELS[level], event: event.type });
    expect(line?.['msg']).toMatch(/\w+/);
  });
});

describe('the lines about problems', () => {
  it('are at most 100 a minute for each kind of event, and the next one has the number of those left out', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const lines: object[] = [];
    const write = (fields: object): void => void lines.push(fields);
    const telemetry = loggerTelemetry({ debug: write, info: write, warn: write, error: write });
    for (let failure = 0; failure < 5_000; failure += 1) {
      telemetry.emit({ ...error, requestId: String(failure) });
      telemetry.emit({ ...call, failure: 'unreachable', path: `/${String(failure)}` });
      if (failure < 1_000) telemetry.emit({ ...call, status: 200 });
    }
    expect(lines).toHaveLength(200 + 1_000);
    vi.advanceTimersByTime(60_000);
    telemetry.emit(error);
    expect(lines.at(-1)).toMatchObject({ event: 'error', leftOut: 4_900 });
    telemetry.emit(error);
    expect(lines.at(-1)).not.toHaveProperty('leftOut');
  });
});
