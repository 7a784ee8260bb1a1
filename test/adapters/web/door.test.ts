import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock, type RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { type ErrorForm, PROBLEMS, RPC_ERRORS } from '../../../src/adapters/web/error-response.js';
import { type Reader, route, type RouteRule } from '../../../src/adapters/web/door.js';
import { json, nothing } from '../../../src/adapters/web/readers.js';
import { ChatWatch } from '../../../src/domain/chat/chat-watch.js';
import type { HttpRequest, HttpResponse } from '../../../src/ports/http.js';
import { textOf } from '../../contracts/http-upstream.contract.js';
import { SERVICE } from '../../domain/credentials/broker-fixture.js';
import { bodyBudget, browserRequest, bytes, site, streamed } from './browser-request.js';
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

  it.each([
    ['an event stream of the agent without a byte', EVENTS, RPC_ERRORS, '', 1],
    ['one with an event', EVENTS, RPC_ERRORS, 'data: 1\n\n', 0],
    ['one of the platform', EVENTS, undefined, '', 0],
    ['JSON of the agent', JSON_TYPE, RPC_ERRORS, '', 0],
  ])('is the agent’s failure if it is %s', async (_what, headers, errors, text, warnings) => {
    const body = new PushStream();
    const { response, telemetry } = await serve({ headers, body }, errors && { errors });
    if (text !== '') body.push(text);
    body.end();
    await textOf(response.body);
    const warned = {
      type: 'warning',
      code: 'agent_failed',
      detail: 'The agent sent an empty event stream. Look at its log.',
    };
    expect(telemetry.of('warning')).toEqual(Array.from({ length: warnings }, () => warned));
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
    await (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.(new Error('slow'));
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

interface Asked {
  /** The steps of the door and the route, in order. */
  readonly steps: readonly string[];
  readonly response: HttpResponse;
  readonly telemetry: RecordingTelemetry;
  /** Bytes of request bodies that are still counted. */
  readonly held: number;
}

/** A route that reads JSON, and the steps of one request to it. */
async function ask(
  changes: Partial<RouteRule<string, string>> = {},
  request: Partial<HttpRequest> = {},
  { served, verdict = 'admitted' }: { served?: () => HttpResponse; verdict?: 'admitted' | 'refused' | 'broken' } = {},
): Promise<Asked> {
  const steps: string[] = [];
  const count = (kind: string) => (): Promise<never> => {
    steps.push(`count ${kind}`);
    if (verdict === 'broken') return Promise.reject(new Error('no store'));
    return Promise.resolve((verdict === 'admitted' ? { kind: verdict } : { kind: verdict, retryAfterMs: 1 }) as never);
  };
  const bodies = bodyBudget();
  const settings = site({ bodies, chatLimit: { admit: count('message'), admitReading: count('reading') } });
  const read: Reader<string, string> = json(({ bytes: body }) => {
    steps.push('read');
    return { value: new TextDecoder().decode(body), id: '7' };
  });
  const rule: RouteRule<string, string> = {
    name: 'orders',
    target: ({ path }) => (path === '/nowhere' ? undefined : path),
    methods: ['POST'],
    origin: 'own-pages',
    limit: () => 'message',
    read,
    errors: RPC_ERRORS,
    ...changes,
  };
  const handle = route(rule, { site: settings, auth: SERVICE }, () => {
    steps.push(`serve, ${String(bodies.heldBytes)} bytes held`);
    return served?.() ?? { status: 200, headers: JSON_TYPE, body: '{}' };
  });
  const body = streamed(['"12345678"']);
  const response = await handle(browserRequest({ body, ...request }));
  return { steps, response, telemetry: settings.telemetry, held: bodies.heldBytes };
}

const FOREIGN = { ...JSON_TYPE, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', host: 'site.example' };
const broken = (): never => {
  throw new Error('broken');
};

describe('a request at the door', () => {
  it('is read, then counted, then served, and its body is held until there is a response', async () => {
    const { steps, response, held } = await ask();
    expect(steps).toEqual(['read', 'count message', 'serve, 10 bytes held']);
    expect([response.status, held]).toEqual([200, 0]);
  });

  it.each<[title: string, request: Partial<HttpRequest>, status: number, events: readonly string[]]>([
    ['at another path is 404', { path: '/nowhere', headers: FOREIGN }, 404, ['error']],
    ['by another method is 405', { method: 'GET', headers: FOREIGN }, 405, ['error']],
    ['from a page of another site is 403', { headers: FOREIGN }, 403, ['error', 'request']],
  ])('%s, neither read nor counted', async (_title, request, status, events) => {
    const { steps, response, telemetry } = await ask({}, request);
    expect([response.status, steps]).toEqual([status, []]);
    expect(telemetry.events.map(({ type }) => type)).toEqual(events);
  });

  type Case = [
    what: string,
    changes: Partial<RouteRule<string, string>>,
    of: () => Partial<HttpRequest>,
    status: number,
  ];
  it.each<Case>([
    ['whose body is cut', {}, () => ({ body: streamed(['"1'], new Error('cut')) }), 400],
    ['whose body is too large', {}, () => ({ body: streamed(['"', 'x'.repeat(2_000), '"']) }), 413],
    ['whose body is absent', {}, () => ({ body: null }), 400],
    ['whose body a parser took', {}, () => ({ body: null, bodyConsumed: true }), 500],
    ['of another media type', {}, () => ({ headers: { 'content-type': 'text/plain' } }), 400],
    ['whose reader fails', { read: json(broken) }, () => ({}), 500],
    ['whose reader fails before the body', { read: broken }, () => ({}), 500],
  ])('%s is counted once, then refused', async (_what, changes, of, status) => {
    const { steps, response, held } = await ask(changes, of());
    expect([response.status, steps, held]).toEqual([status, ['count message'], 0]);
    expect((await ask(changes, of(), { verdict: 'refused' })).response.status).toBe(429);
  });

  it('with a fault is counted by what was read, and refused with its id', async () => {
    const read: Reader<string, string> = json(() => ({ value: 'a', id: '"x"', fault: new Error('odd') }));
    const { steps, response } = await ask({ read, limit: ({ value }) => (value === 'a' ? 'reading' : 'message') });
    expect([response.status, steps]).toEqual([500, ['count reading']]);
    expect(await textOf(response.body)).toContain('"id":"x"');
  });

  it('whose fault has a limiter that refuses has its id in the refusal', async () => {
    const read: Reader<string, string> = json(() => ({ id: '"x"', fault: new Error('odd') }));
    const { response } = await ask({ read }, {}, { verdict: 'refused' });
    expect([response.status, await textOf(response.body)]).toEqual([429, expect.stringContaining('"id":"x"')]);
  });

  it.each<[what: string, outcome: Parameters<typeof ask>[2], status: number]>([
    ['the limit is reached', { verdict: 'refused' }, 429],
    ['the limiter fails', { verdict: 'broken' }, 500],
    ['the route fails', { served: broken }, 500],
    ['the response is a stream', { served: () => ({ status: 200, headers: EVENTS, body: new PushStream() }) }, 200],
  ])('holds no body once there is a response: %s', async (_what, outcome, status) => {
    const { response, held } = await ask({}, {}, outcome);
    expect([response.status, held]).toEqual([status, 0]);
  });

  it.each(['none', 'within'] as const)('is not counted with the limit %s', async (limit) => {
    expect((await ask({ limit })).steps).toEqual(['read', 'serve, 10 bytes held']);
  });

  it('that fails after its cookie was chosen sets none', async () => {
    const handle = route(
      { name: 'orders', methods: ['POST'], origin: 'own-pages', limit: 'none', read: nothing, errors: PROBLEMS },
      { site: site(), auth: SERVICE },
      (admitted) => {
        admitted.cookie = 'visitor=1';
        return broken();
      },
    );
    expect((await handle(browserRequest())).headers).not.toHaveProperty('set-cookie');
  });

  it.each<[pages: RouteRule<unknown, unknown>['origin'], visitor: unknown, status: number]>([
    ['own-pages', undefined, 403],
    ['own-pages-with-visitor', {}, 403],
    ['own-pages-with-visitor', undefined, 200],
    ['own-pages-with-session', {}, 200],
  ])(
    'to read from another site, with the rule %s and the visitors %s, has the status %i',
    async (origin, visitor, status) => {
      const handle = route(
        { name: 'orders', methods: ['GET'], origin, limit: 'none', read: nothing, errors: PROBLEMS },
        { site: site(), auth: SERVICE, visitor },
        () => ({ status: 200, headers: JSON_TYPE, body: '{}' }),
      );
      expect((await handle(browserRequest({ method: 'GET', body: null, headers: FOREIGN }))).status).toBe(status);
    },
  );
});
