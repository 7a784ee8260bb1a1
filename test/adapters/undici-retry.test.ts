import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordingTelemetry } from '../../src/adapters/fakes/fakes.js';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import { repeated } from '../../src/domain/upstream/platform-call.js';
import type { UpstreamOutcome, UpstreamRequest } from '../../src/ports/http.js';
import { responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { type Answer, RecordingUpstream, freeOrigin } from '../support/recording-upstream.js';

const ok: Answer = (exchange) => exchange.json(200, {});
const GET: Partial<UpstreamRequest> = { method: 'GET', body: null };

let platform: RecordingUpstream;
let telemetry: RecordingTelemetry;
let upstream: UndiciUpstream;
/** Runs during the pause before a second attempt. */
let pause: (ms: number, signal: AbortSignal) => Promise<void>;

beforeEach(async () => {
  platform = await RecordingUpstream.start();
  telemetry = new RecordingTelemetry();
  pause = () => Promise.resolve();
  upstream = new UndiciUpstream({ connectMs: 2_000 });
});
afterEach(async () => {
  await platform.close();
  await upstream.close();
});

const send = (changes: Partial<UpstreamRequest> = {}): Promise<UpstreamOutcome> =>
  sendBy(upstream, upstreamRequest(platform.origin, changes));

async function sendBy(by: UndiciUpstream, request: UpstreamRequest): Promise<UpstreamOutcome> {
  const outcome = await by.send(request);
  return outcome.kind === 'failure' ? repeated(request, outcome, { upstream: by, telemetry, pause }) : outcome;
}

/** Leaves one used connection idle. */
async function serveOnce(): Promise<void> {
  platform.willAnswer(ok);
  await textOf(responseOf(await send(GET)).body);
  platform.requests.length = 0;
}

const endings: readonly (readonly [string, Answer])[] = [
  ['reset', (exchange) => exchange.reset()],
  ['closed', (exchange) => exchange.fin()],
];

describe.each(endings)('a kept-alive connection that is %s as the next request arrives', (_how, end) => {
  it.each(['GET', 'HEAD'])('is replaced by a new one: %s succeeds', async (method) => {
    await serveOnce();
    let turn = 0;
    platform.willAnswer((exchange) => ((turn += 1) === 1 ? end(exchange) : ok(exchange)));
    expect(responseOf(await send({ method, body: null })).status).toBe(200);
    expect(platform.requests.map((request) => request.method)).toEqual([method, method]);
    expect(telemetry.of('retry')).toMatchObject([{ method, cause: 'stale_connection' }]);
  });

  it('is not replaced for a POST, whose failure does not blame the scheme of the address', async () => {
    await serveOnce();
    platform.willAnswer(end);
    const outcome = await send({ method: 'POST' });
    expect(outcome).toMatchObject({ reason: 'reset', sent: 'on-stale-connection' });
    expect(outcome.kind === 'failure' && outcome.log).toMatch(
      /\(an idle connection was closed as the request was sent\)$/,
    );
    expect(platform.requests).toHaveLength(1);
  });

  it('is replaced only once', async () => {
    await serveOnce();
    platform.willAnswer(end);
    expect(await send(GET)).toMatchObject({ kind: 'failure', reason: 'reset' });
    expect(platform.requests).toHaveLength(2);
  });

  it('is dropped together with the other idle connections', async () => {
    platform.willWait();
    const pending = Array.from({ length: 5 }, () => send(GET));
    const exchanges = await Promise.all(pending.map(() => platform.next()));
    for (const exchange of exchanges) exchange.json(200, {});
    for (const outcome of await Promise.all(pending)) await textOf(responseOf(outcome).body);
    let turn = 0;
    platform.willAnswer((exchange) => ((turn += 1) === 1 ? end(exchange) : ok(exchange)));
    await textOf(responseOf(await send(GET)).body);
    await expect.poll(() => platform.connections()).toBe(1);
  });
});

it('a kept-alive connection on which no response comes in time leads to no retry', async () => {
  await serveOnce();
  platform.willWait();
  expect(await send({ ...GET, headersMs: 50 })).toMatchObject({ kind: 'failure', reason: 'timeout' });
  expect(platform.requests).toHaveLength(1);
});

describe('a new connection', () => {
  it.each(endings)('that is %s leads to no retry', async (_how, end) => {
    platform.willAnswer(end);
    expect(await send(GET)).toMatchObject({ kind: 'failure', reason: 'reset' });
    expect(platform.requests).toHaveLength(1);
  });
});

describe('a connection that breaks after the first byte of a response', () => {
  it.each<readonly [string, Answer]>([
    ['in its head', (exchange) => exchange.raw('HTTP/1.1 200 OK\r\nCon').reset()],
    ['in a head that ends there', (exchange) => exchange.raw('HTTP/1.1 200 OK\r\nCon').fin()],
    ['before its status', (exchange) => exchange.raw('HTTP').fin()],
    ['with another protocol', (exchange) => void exchange.raw('SSH-2.0\r\n\r\n')],
  ])('leads to no retry: %s', async (_where, answer) => {
    await serveOnce();
    platform.willAnswer(answer);
    expect(await send(GET)).toMatchObject({ kind: 'failure', reason: expect.not.stringMatching('timeout') as string });
    expect(platform.requests).toHaveLength(1);
  });
});

describe('a platform without a reachable address', () => {
  let origin: string;
  let reopened: Server | undefined;
  beforeEach(async () => {
    origin = await freeOrigin();
    reopened = undefined;
  });
  afterEach(() => reopened?.close());

  const reopen = async (): Promise<void> => {
    reopened = createServer((socket: Socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'));
    }).listen(Number(new URL(origin).port), '127.0.0.1');
    await once(reopened, 'listening');
  };

  it.each(['GET', 'POST', 'DELETE'])(
    'is tried once more after a pause, also with %s: nothing was sent',
    async (method) => {
      const pauses: number[] = [];
      pause = async (ms) => {
        pauses.push(ms);
        await reopen();
      };
      expect(responseOf(await send({ origin, method })).status).toBe(204);
      expect(pauses).toEqual([100]);
      expect(telemetry.of('retry')).toMatchObject([{ method, cause: 'no_connection' }]);
      expect(telemetry.of('retry')[0]?.detail).toContain('ECONNREFUSED');
    },
  );

  it('is not retried for a browser that left', async () => {
    const browser = new AbortController();
    pause = async () => {
      browser.abort();
      await reopen();
    };
    expect(await send({ origin, signal: browser.signal })).toMatchObject({ kind: 'failure', reason: 'aborted' });
  });
});
