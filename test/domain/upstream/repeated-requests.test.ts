import { describe, expect, it } from 'vitest';
import { FakeUpstream, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { repeated } from '../../../src/domain/upstream/platform-call.js';
import type { UpstreamFailureReason, UpstreamOutcome, UpstreamRequest } from '../../../src/ports/http.js';
import { upstreamRequest } from '../../contracts/http-upstream.contract.js';

type Sent = Extract<UpstreamOutcome, { kind: 'failure' }>['sent'];

function failure(reason: UpstreamFailureReason, sent: Sent): UpstreamOutcome {
  return { kind: 'failure', reason, log: 'what happened', ...(sent === undefined ? {} : { sent }) };
}

/** Sends a request and repeats it as `PlatformCall` does. */
async function sendOrRepeat(request: UpstreamRequest, by: Parameters<typeof repeated>[2]): Promise<UpstreamOutcome> {
  const outcome = await by.upstream.send(request);
  return outcome.kind === 'failure' ? repeated(request, outcome, by) : outcome;
}

/** The attempts and pauses of a request whose first attempt has this outcome. */
async function attempts(first: UpstreamOutcome, changes: Partial<UpstreamRequest> = {}) {
  const upstream = new FakeUpstream(() => (upstream.requests.length === 1 ? first : failure('invalid', undefined)));
  const telemetry = new RecordingTelemetry();
  const pauses: unknown[] = [];
  const pause = (...wait: unknown[]): Promise<void> => (pauses.push(wait), Promise.resolve());
  const request = upstreamRequest('https://platform.example', changes);
  const outcome = await sendOrRepeat(request, { upstream, telemetry, pause });
  const again = upstream.requests.length === 2;
  // The outcome is that of the second attempt, if there was one.
  expect(outcome).toEqual(again ? failure('invalid', undefined) : first);
  for (const sent of upstream.requests) expect(sent).toBe(request);
  expect(telemetry.of('retry')).toHaveLength(upstream.requests.length - 1);
  return { count: upstream.requests.length, pauses, retries: telemetry.of('retry'), request };
}

const stream = (async function* () {})() as AsyncIterable<Uint8Array>;

describe('a request is repeated', () => {
  it.each<readonly [UpstreamFailureReason, string, UpstreamRequest['body']]>([
    ['unreachable', 'POST', '{}'],
    ['unreachable', 'DELETE', null],
    ['reset', 'PUT', new Uint8Array(2)],
  ])('after a pause when it was not sent: %s, %s', async (reason, method, body) => {
    const { count, pauses, retries, request } = await attempts(failure(reason, 'nothing'), { method, body });
    expect([count, pauses]).toEqual([2, [[100, request.signal]]]);
    expect(retries).toEqual([{ type: 'retry', method, cause: 'no_connection', detail: 'what happened' }]);
  });

  it.each(['GET', 'HEAD'])('immediately on a stale connection: %s', async (method) => {
    const { count, pauses, retries } = await attempts(failure('reset', 'on-stale-connection'), { method, body: null });
    expect([count, pauses]).toEqual([2, []]);
    expect(retries).toMatchObject([{ method, cause: 'stale_connection' }]);
  });
});

describe('a request is not repeated', () => {
  it.each<readonly [string, UpstreamOutcome, Partial<UpstreamRequest>]>([
    ['after a response', { kind: 'response', response: { status: 503, headers: {}, body: null } }, { method: 'GET' }],
    ['when the platform may have seen it', failure('reset', undefined), { method: 'GET', body: null }],
    ['when it changes something and was sent', failure('reset', 'on-stale-connection'), { method: 'POST' }],
    ['when its body is streamed', failure('unreachable', 'nothing'), { body: stream }],
    ['after its deadline', failure('timeout', 'nothing'), { method: 'GET' }],
    ['after an abort', failure('aborted', 'nothing'), { method: 'GET' }],
    ['after an invalid response', failure('invalid', undefined), { method: 'GET' }],
  ])('%s', async (_when, first, changes) => {
    expect((await attempts(first, changes)).count).toBe(1);
  });
});
