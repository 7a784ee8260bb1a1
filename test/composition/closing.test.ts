import { configureServer, type ServerConfig, type Toolkit } from 'agent-bff';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildToolkit } from '../../src/composition/toolkit/toolkit.js';
import type { HttpHandler, HttpResponse } from '../../src/ports/http.js';
import { browserRequest } from '../adapters/web/browser-request.js';
import { textOf } from '../contracts/http-upstream.contract.js';
import { type Exchange, RecordingUpstream } from '../support/recording-upstream.js';
import { chatRoute, recordRoute, surfaceRoute } from '../support/toolkit-routes.js';

let platform: RecordingUpstream;
beforeEach(async () => {
  platform = await RecordingUpstream.start();
  platform.willWait();
});
afterEach(() => platform.close());

const config = (changes: ServerConfig = {}): ServerConfig => ({
  a2aUrl: `${platform.origin}/a2a`,
  serviceApiUrl: `${platform.origin}/api`,
  serviceApiKey: 'key',
  keepAliveMs: 0,
  ...changes,
});
const build = (changes?: ServerConfig, previous?: Toolkit): Toolkit => buildToolkit(config(changes), {}, previous);
const chat = (toolkit: Toolkit): Promise<HttpResponse> => chatRoute(toolkit)(browserRequest());

/** Reads a response to its end and returns its status. */
async function served(toolkit: Toolkit): Promise<number> {
  const { status, body } = await chat(toolkit);
  await textOf(body);
  return status;
}

async function openStream(toolkit: Toolkit): Promise<{ exchange: Exchange; response: HttpResponse }> {
  const pending = chat(toolkit);
  const exchange = await platform.next();
  exchange.eventStream().write('data: one\n\n');
  return { exchange, response: await pending };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  return settled;
}

describe('a closed toolkit', () => {
  const roads: readonly (readonly [string, (toolkit: Toolkit) => HttpHandler, string])[] = [
    ['a chat message', (toolkit) => chatRoute(toolkit), ''],
    ['the config route', (toolkit) => chatRoute(toolkit), '/config'],
    ['a widget', (toolkit) => surfaceRoute(toolkit), '/s-1/render'],
    ['a record', (toolkit) => recordRoute(toolkit, { auth: () => 'token' }), '/conversations/1'],
  ];
  it.each(roads)('rejects %s with 503 and Retry-After', async (_what, handlerOf, path) => {
    const toolkit = build();
    const handler = handlerOf(toolkit);
    await toolkit.close();
    const response = await handler(browserRequest({ path }));
    expect(response).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await textOf(response.body)).toContain('server_closing');
    expect(platform.requests).toEqual([]);
  });

  it('lets streams run for the grace period, then ends them with an error event', async () => {
    const toolkit = build();
    const { exchange, response } = await openStream(toolkit);
    const closing = toolkit.close({ graceMs: 1_000 });
    expect((await chat(toolkit)).status).toBe(503);
    expect(await isSettled(closing)).toBe(false);
    const text = await textOf(response.body);
    expect(text.startsWith('data: one\n\nevent: error\ndata: ')).toBe(true);
    await closing;
    await exchange.closed;
    expect(await platform.connections()).toBe(0);
  });

  it('aborts a response that is not an event stream after the grace period', async () => {
    const toolkit = build();
    const pending = chat(toolkit);
    (await platform.next()).head(200, { 'content-type': 'application/json' }).write('{"half":');
    const { body } = await pending;
    await toolkit.close({ graceMs: 0 });
    await expect(textOf(body)).rejects.toThrow();
  });

  it('responds to a waiting request with 502 after the grace period', async () => {
    const toolkit = build();
    const pending = chat(toolkit);
    await platform.next();
    await toolkit.close({ graceMs: 20 });
    expect((await pending).status).toBe(502);
    expect(platform.requests).toHaveLength(1);
  });

  it('resolves close() as soon as the last request has ended', async () => {
    const toolkit = build();
    const { exchange, response } = await openStream(toolkit);
    const closing = toolkit.close({ graceMs: 600_000 });
    exchange.end();
    expect(await textOf(response.body)).toBe('data: one\n\n');
    await closing;
  });

  it('returns the same promise from a second close()', async () => {
    const toolkit = build();
    const closing = toolkit.close();
    expect(toolkit.close({ graceMs: 0 })).toBe(closing);
    await closing;
    expect(toolkit.close()).toBe(closing);
  });

  it.each([-1, Number.NaN])('stays open when its grace period is %d, which is refused', async (graceMs) => {
    const toolkit = build();
    platform.willAnswerAgain();
    expect(() => toolkit.close({ graceMs })).toThrow('"graceMs" of toolkit.close. Set it to milliseconds from 0.');
    expect(await served(toolkit)).toBe(200);
    await toolkit.close();
  });

  it('waits for a request with a grace period that is longer than any timer', async () => {
    const toolkit = build();
    const { exchange, response } = await openStream(toolkit);
    const closing = toolkit.close({ graceMs: Number.POSITIVE_INFINITY });
    const other = build();
    await openStream(other);
    await other.close({ graceMs: 20 });
    exchange.end('data: two\n\n');
    expect(await textOf(response.body)).toBe('data: one\n\ndata: two\n\n');
    await closing;
  });

  it('does not affect toolkits created later', async () => {
    const toolkit = build();
    await toolkit.close();
    const later = build({}, toolkit);
    platform.willAnswerAgain();
    expect(await served(later)).toBe(200);
    await later.close();
  });
});

describe('a replaced toolkit', () => {
  it('finishes its open streams on its own connections', async () => {
    const first = build();
    const { exchange, response } = await openStream(first);
    const second = build({ timeouts: { connectMs: 1_000 } }, first);
    exchange.end('data: two\n\n');
    expect(await textOf(response.body)).toBe('data: one\n\ndata: two\n\n');
    await second.close();
  });

  it.each([{}, { timeouts: { connectMs: 1_000 } }])(
    'ends its last streams when its successor closes (%j)',
    async (changes) => {
      const first = build();
      const { response } = await openStream(first);
      await build(changes, first).close({ graceMs: 20 });
      expect(await textOf(response.body)).toContain('event: error');
    },
  );

  it('closes connections that its successor does not use', async () => {
    platform.willAnswerAgain();
    const first = build();
    expect(await served(first)).toBe(200);
    expect(await platform.connections()).toBe(1);
    const second = build({ timeouts: { connectMs: 1_000 } }, first);
    await expect.poll(() => platform.connections()).toBe(0);
    await second.close();
  });
});

describe('a site with "maxInFlight"', () => {
  it('rejects a request over the limit with 503 and does not count open streams', async () => {
    const toolkit = build({ maxInFlight: 1 });
    const { exchange, response } = await openStream(toolkit);
    const waiting = chat(toolkit);
    const answer = await platform.next();
    const refused = await chat(toolkit);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(await textOf(refused.body)).toContain('SERVER_BUSY');
    answer.json(200, {});
    await textOf((await waiting).body);
    exchange.end();
    await textOf(response.body);
    platform.willAnswerAgain();
    expect(await served(toolkit)).toBe(200);
    await toolkit.close();
  });

  it('rejects a negative limit', () => {
    expect(() => configureServer({ maxInFlight: -1 })).toThrow('maxInFlight');
  });
});
