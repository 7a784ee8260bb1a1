import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock, type RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { type ErrorForm, PROBLEMS, RPC_ERRORS } from '../../../src/adapters/web/error-response.js';
import { route } from '../../../src/adapters/web/door.js';
import { nothing } from '../../../src/adapters/web/readers.js';
import type { FlowingBody } from '../../../src/domain/shared/body.js';
import { ChatWatch } from '../../../src/domain/chat/chat-watch.js';
import type { HttpRequest, HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { browserRequest, bytes, site } from './browser-request.js';
import { PushStream } from './push-stream.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const OWN = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
const EVENTS = { 'content-type': 'text/event-stream' };

interface Served {
  readonly clock: FakeClock;
  readonly response: HttpResponse;
  readonly telemetry: RecordingTelemetry;
}

/** The format of a route's errors, and what its function adds to a response. */
interface Added {
  readonly errors?: ErrorForm;
  readonly cookie?: string;
  readonly chat?: ChatWatch | undefined;
}

/** A response with these parts, after 7 ms, on its way through a route. */
async function serve(
  given: Partial<HttpResponse>,
  { errors = PROBLEMS, cookie, chat }: Added = {},
  request: Partial<HttpRequest> = {},
): Promise<Served> {
  const clock = new FakeClock();
  const settings = site({ clock });
  const handle = route(
    { name: 'chat', methods: ['GET', 'HEAD', 'POST'], origin: 'own-pages', limit: 'none', read: nothing, errors },
    { site: settings, auth: SERVICE },
    (admitted) => {
      Object.assign(admitted, { cookie, chat });
      clock.advance(7);
      return { status: 200, headers: JSON_TYPE, body: '{}', ...given };
    },
  );
  const response = await handle(browserRequest(request));
  return { clock, response, telemetry: settings.telemetry };
}

const watch = (): ChatWatch =>
  new ChatWatch({ clock: new FakeClock(), digest: (text) => text }, { method: 'message/send' });
const ID = { requestId: 'req-1', route: 'chat' };
const REQUEST = { type: 'request', ...ID, method: 'POST', status: 200, durationMs: 7 };

describe('a response', () => {
  it("sets the site's cookie and none of the agent", async () => {
    const headers = { ...JSON_TYPE, 'set-cookie': 'agent=1' };
    const response = { status: 200, headers: { ...JSON_TYPE, ...OWN }, body: '{}' };
    expect((await serve({ headers })).response).toStrictEqual(response);
    expect((await serve({ headers }, { cookie: 'site=1' })).response).toStrictEqual({
      ...response,
      headers: { ...response.headers, 'set-cookie': 'site=1' },
    });
  });

  it.each([
    ['HEAD', 200, '2'],
    ['GET', 304, '2'],
    ['GET', 204, undefined],
    ['GET', 205, undefined],
  ])('to %s with the status %i has no body, and the length %s', async (method, status, length) => {
    const body = new PushStream();
    const { response, telemetry } = await serve({ status, headers: { 'content-length': '2' }, body }, {}, { method });
    expect(response).toEqual({ status, headers: { ...OWN, 'content-length': length }, body: null });
    expect(body.returned).toBe(true);
    expect(telemetry.events).toEqual([{ ...REQUEST, method, status }]);
  });

  it.each([
    ['text', 'Zoë', 4],
    ['bytes', bytes('1234'), 4],
    ['nothing', null, 0],
  ])('to a chat call is reported with its size: %s', async (_what, body, size) => {
    const { telemetry } = await serve({ body }, { chat: watch() });
    expect(telemetry.events).toEqual([
      expect.objectContaining({ type: 'chat', ...ID, outcome: 'complete', bytes: size }),
      REQUEST,
    ]);
  });
});

describe('a body on its way through a route', () => {
  type End = (body: PushStream, browser: AbortController) => void;
  it.each<[string, End, outcome: string, detail: string | undefined]>([
    ['ends', (body) => body.end(), 'complete', undefined],
    ['ends after the browser has left', (body, browser) => (browser.abort(), body.end()), 'browser', undefined],
    ['breaks', (body) => body.break(new Error('cut')), 'upstream', 'cut'],
    ['breaks with a text', (body) => body.break('cut' as unknown as Error), 'upstream', 'unknown'],
    [
      'breaks after the browser has left',
      (body, browser) => (browser.abort(), body.break(new Error('cut'))),
      'browser',
      'cut',
    ],
    [
      'is cut when the server shuts down',
      (body) => body.break(Object.assign(new Error('the server is shutting down'), { name: 'AbortError' })),
      'site',
      'the server is shutting down',
    ],
  ])('is reported once when it %s', async (_how, end, outcome, detail) => {
    const broken = detail === undefined ? [] : [{ type: 'stream_broken', ...ID, side: outcome, detail }];
    for (const headers of [EVENTS, JSON_TYPE]) {
      for (const chat of [watch(), undefined]) {
        const [body, browser] = [new PushStream(), new AbortController()];
        const { response, telemetry, clock } = await serve({ headers, body }, { chat }, { signal: browser.signal });
        body.push('data: 1\n\n');
        clock.advance(5);
        end(body, browser);
        await textOf(response.body).catch(() => undefined);
        const ended = { type: 'stream_ended', ...ID, outcome, durationMs: 12 };
        expect(telemetry.events).toEqual([
          { ...REQUEST, ...(headers === EVENTS && { streams: true }), ...(chat && { continues: true }) },
          ...broken,
          ...(chat ? [expect.objectContaining({ type: 'chat', ...ID, outcome, bytes: 9 }) as unknown] : []),
          ...(headers === EVENTS ? [ended] : []),
        ]);
      }
    }
  });

  it('is kept alive by comments if it has events', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { response } = await serve({ headers: EVENTS, body: new PushStream() }, { errors: RPC_ERRORS });
    const chunk = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await chunk).toEqual({ done: false, value: bytes(': keep-alive\n\n') });
  });

  it('is reported as broken by a browser that accepts no bytes', async () => {
    const { response, telemetry } = await serve({ headers: EVENTS, body: new PushStream() });
    (response.body as FlowingBody).cancel(new Error('slow'));
    const broken = { type: 'stream_broken', ...ID, side: 'browser', detail: 'slow' };
    expect(telemetry.events.slice(1)).toMatchObject([broken, { type: 'stream_ended', outcome: 'browser' }]);
  });

  it.each([
    ['events to a chat client', EVENTS, RPC_ERRORS, true],
    ['events in the identity coding', { ...EVENTS, 'content-encoding': 'identity' }, RPC_ERRORS, true],
    ['compressed events', { ...EVENTS, 'content-encoding': 'gzip' }, RPC_ERRORS, false],
    ['events to another client', EVENTS, undefined, false],
    ['JSON', JSON_TYPE, RPC_ERRORS, false],
  ])('that breaks ends with an event that reports it, if it has %s: %s', async (_what, headers, errors, hasEvent) => {
    const body = new PushStream();
    const { response } = await serve({ headers, body }, errors && { errors });
    body.break(new Error('cut'));
    if (hasEvent) {
      expect(await textOf(response.body)).toMatch(
        /^event: error\ndata: .*connection to the agent was lost.*Subscribe to/,
      );
    } else {
      await expect(textOf(response.body)).rejects.toThrow('cut');
    }
  });
});
