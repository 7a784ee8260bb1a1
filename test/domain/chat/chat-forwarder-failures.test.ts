import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MethodPolicy } from '../../../src/domain/chat/method-policy.js';
import type { HttpResponse, UpstreamFailureReason } from '../../../src/ports/http.js';
import { SERVICE } from '../credentials/broker-fixture.js';
import { chatRequest, ChatWorld, WatchedBody } from './chat-world.js';
import { errorOf } from '../../support/error-of.js';

const CHAT = new MethodPolicy('chat');

async function answerTo(response: HttpResponse): Promise<HttpResponse> {
  const world = new ChatWorld();
  world.upstream.willAnswer(() => response);
  return world.forward(chatRequest(), SERVICE, CHAT);
}

function text(body: HttpResponse['body']): string {
  if (!(body instanceof Uint8Array)) throw new Error('not bytes');
  return new TextDecoder().decode(body);
}

describe('an agent without a response', () => {
  it.each<[UpstreamFailureReason, string, string, boolean]>([
    ['timeout', 'upstream_timeout', 'The agent did not respond in time.', false],
    ['invalid', 'upstream_invalid_response', 'The agent sent a response that is not valid HTTP.', false],
  ])('(%s) is reported as %s, with its host only in the log', async (reason, code, detail, retryable) => {
    const world = new ChatWorld();
    world.upstream.willAnswer(() => ({ kind: 'failure', reason, log: 'ECONNREFUSED 10.0.0.7:443' }));
    const error = await errorOf(world.forward(chatRequest(), SERVICE, CHAT));
    expect(error).toMatchObject({ name: 'UpstreamError', code, detail, retryable });
    expect(error.message).not.toContain('10.0.0.7');
    expect(error.logDetail()).toBe('ECONNREFUSED 10.0.0.7:443');
  });

  it.each([300, 301, 302, 304, 307, 308, 399])(
    'that redirects (%i) is neither followed nor forwarded',
    async (status) => {
      const body = new WatchedBody('moved');
      const headers = { location: 'https://elsewhere.example', 'content-type': 'application/json' };
      const error = await errorOf(answerTo({ status, headers, body }));
      expect(error).toMatchObject({ code: 'upstream_redirect', block: 'configureServer', fields: ['a2aUrl'] });
      expect(error.message).not.toContain('elsewhere');
      expect(body.ended).toBe(true);
    },
  );
});

describe("an address that is not an agent's", () => {
  it.each([
    [200, 'text/html', '<h1>Shop at 10.0.0.7</h1>', 'The address of the agent leads to a web page.'],
    [200, 'text/html', '<title>Sign in</title> tenant-7', 'The address of the agent leads to a sign-in page.'],
    [201, 'text/plain', 'OK from 10.0.0.7', 'The response of the agent is not JSON or an event stream.'],
  ])('(%i, %s) is reported, with its text only in the log', async (status, type, body, detail) => {
    const watched = new WatchedBody(body);
    const error = await errorOf(answerTo({ status, headers: { 'content-type': type }, body: watched }));
    expect(error).toMatchObject({ code: 'upstream_invalid_response', detail, fields: ['a2aUrl'], retryable: false });
    expect(error.message).not.toMatch(/10\.0\.0\.7|tenant-7/);
    expect(error.logDetail()).toBe(`status ${String(status)} from the agent, ${type}: ${body}`);
    expect(watched.ended).toBe(true);
  });

  it('is reported when the response is empty', async () => {
    const error = await errorOf(answerTo({ status: 200, headers: {}, body: null }));
    expect(error).toMatchObject({ code: 'upstream_invalid_response', fields: ['a2aUrl'] });
  });

  it.each([
    [200, 'application/json; charset=utf-8'],
    [200, 'Application/JSON'],
    [201, 'application/a2a+json'],
    [200, 'application/json , text/html'],
    [200, 'text/event-stream;charset=utf-8'],
    [202, undefined],
    [204, undefined],
    [204, 'text/html'],
  ])('is not assumed for %i with %s, and the body is forwarded', async (status, type) => {
    const body = new WatchedBody('{"not":"looked at"}');
    const response = await answerTo({ status, headers: { 'content-type': type }, body });
    expect(response.body).toBe(body);
    expect(body.ended).toBe(false);
  });
});

describe('an error response of the agent', () => {
  it.each([400, 404, 409, 429, 499])('with status %i keeps its status but not its text', async (status) => {
    const headers = { 'content-type': 'text/plain', 'retry-after': '7' };
    const error = await errorOf(answerTo({ status, headers, body: 'no tenant-7 at 10.0.0.7' }));
    expect(error).toMatchObject({
      code: 'upstream_error',
      upstreamStatus: status,
      retryable: status === 429,
      retryAfterMs: 7_000,
    });
    expect(error.message).not.toMatch(/tenant-7|10\.0\.0\.7/);
    expect(error.logDetail()).toBe(`status ${String(status)} from the agent, text/plain: no tenant-7 at 10.0.0.7`);
  });

  it.each([400, 404, 422, 500, 502, 503])(
    'as JSON-RPC is forwarded with its status %i, and logged if it is the agent’s own failure',
    async (status) => {
      const world = new ChatWorld();
      const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"out of tokens"}}';
      const headers = { 'content-type': 'application/json; charset=utf-8', 'set-cookie': 'a=b' };
      world.upstream.willAnswer(() => ({ status, headers, body: new WatchedBody(error.slice(0, 9), error.slice(9)) }));
      const response = await world.forward(chatRequest(), SERVICE, CHAT);
      expect([response.status, text(response.body)]).toEqual([status, error]);
      expect(response.headers['set-cookie']).toBeUndefined();
      const said = `The agent answered with an error of its own. Look at its log. status ${String(status)} from the agent, application/json: ${error}`;
      expect(world.telemetry.of('warning').map(({ code, detail }) => [code, detail])).toEqual(
        status < 500 ? [] : [['agent_failed', said]],
      );
    },
  );

  it.each([401, 403])("about the site's credential (%i) is forwarded as JSON-RPC and logged", async (status) => {
    const world = new ChatWorld();
    const body = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no role for account-token-2"}}';
    world.upstream.willAnswer(() => ({ status, headers: { 'content-type': 'application/json' }, body }));
    const response = await world.forward(chatRequest(), SERVICE, CHAT);
    expect([response.status, text(response.body)]).toEqual([status, body]);
    expect(world.telemetry.of('warning')).toEqual([
      {
        type: 'warning',
        code: 'credential_refused',
        summary: expect.stringMatching(/"serviceAccount" configuration block/) as string,
        block: 'serviceAccount',
        fields: expect.any(Array) as string[],
        detail: expect.stringContaining(
          `status ${String(status)} from the agent, application/json: ${body}`.replace(
            /account-token-2/,
            status === 401 ? '[redacted]' : 'account-token-2',
          ),
        ) as string,
      },
    ]);
  });

  it.each([
    ['HTML', 'text/html', '<h1>nginx at 10.0.0.7</h1>'],
    ['other JSON', 'application/json', '{"error":"at 10.0.0.7"}'],
    ['JSON-RPC without an error', 'application/json', '{"jsonrpc":"2.0","result":1}'],
    ['broken JSON', 'application/json', '{"jsonrpc":"2.0","error":'],
    ['an empty batch', 'application/json', '[]'],
    [
      'a batch that contains more than errors',
      'application/json',
      '[{"jsonrpc":"2.0","error":{"code":1}},{"host":"10.0.0.7"}]',
    ],
    ['a stream of other events', 'text/event-stream', 'data: {"host":"10.0.0.7"}'],
    ['a stream without data', 'text/event-stream', ': comment'],
    ['JSON-RPC whose error is a string', 'application/json', '{"jsonrpc":"2.0","error":"no"}'],
    ['JSON-RPC whose error is null', 'application/json', '{"jsonrpc":"2.0","error":null}'],
    ['JSON-RPC with a text type', 'text/plain', '{"jsonrpc":"2.0","error":{"code":1}}'],
    ['a JSON null', 'application/json', 'null'],
    ['a JSON string', 'application/json', '"jsonrpc error"'],
  ])('in %s keeps its status but not its text', async (_what, type, body) => {
    const error = await errorOf(answerTo({ status: 502, headers: { 'content-type': type }, body }));
    expect(error).toMatchObject({ code: 'upstream_error', upstreamStatus: 502, retryable: false });
    expect(error.message).toBe('The agent reported an internal error.');
    expect(error.logDetail()).toBe(`status 502 from the agent, ${type}: ${body}`);
  });

  it('of type JSON without a body keeps its status', async () => {
    const answer = answerTo({ status: 500, headers: { 'content-type': 'application/json' }, body: null });
    expect(await errorOf(answer)).toMatchObject({ code: 'upstream_error', upstreamStatus: 500 });
  });

  const ERROR = '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"out of tokens"}}';

  it.each([
    ['a batch', 'application/json', `[${ERROR},${ERROR}]`],
    ['an event', 'text/event-stream; charset=utf-8', `event: error\r\ndata: ${ERROR}\r\n\r\n`],
    ['several events', 'text/event-stream', `: hello\n\ndata: ${ERROR}\n\nid: 2\ndata:${ERROR}\n\n`],
    ['an event of several lines', 'text/event-stream', `data: ${ERROR.slice(0, 16)}\ndata: ${ERROR.slice(16)}\n\n`],
    ['one with CRLF', 'text/event-stream', `data: ${ERROR.slice(0, 16)}\r\ndata: ${ERROR.slice(16)}\r\n\r\n`],
    ['another JSON type', 'application/a2a+json', ERROR],
  ])('as JSON-RPC in %s is forwarded', async (_what, type, body) => {
    const response = await answerTo({ status: 500, headers: { 'content-type': type }, body: new WatchedBody(body) });
    expect([response.status, text(response.body)]).toEqual([500, body]);
  });

  it.each([
    ['gzip', gzipSync(ERROR)],
    ['x-gzip', gzipSync(ERROR)],
    ['deflate', deflateSync(ERROR)],
    ['identity', Buffer.from(ERROR)],
  ])('as JSON-RPC in %s is forwarded unchanged', async (coding, body) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const response = await answerTo({ status: 500, headers, body: new WatchedBody(body) });
    expect(response.headers['content-encoding']).toBe(coding);
    expect(Buffer.from(response.body as Uint8Array).equals(body)).toBe(true);
  });

  it.each<[string, string | string[], string | Uint8Array]>([
    ['falsely declared as compressed', 'gzip', ERROR],
    ['compressed twice', 'gzip, gzip', gzipSync(gzipSync(ERROR))],
    ['compressed twice, with two fields', ['gzip', 'gzip'], gzipSync(gzipSync(ERROR))],
    ['in an unsupported content coding', 'br', gzipSync(ERROR)],
    ['expanding to a huge size', 'gzip', gzipSync(ERROR + ' '.repeat(2_000_000))],
    ['compressed, but not JSON-RPC', 'gzip', gzipSync('{"host":"10.0.0.7"}')],
  ])('is not forwarded: %s', async (_what, coding, body) => {
    const watched = new WatchedBody(body);
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const error = await errorOf(answerTo({ status: 500, headers, body: watched }));
    expect(error).toMatchObject({ code: 'upstream_error' });
    expect(error.logDetail()).toBe(`status 500 from the agent, application/json, compressed (${String(coding)})`);
  });

  it('that never ends is aborted at the deadline', async () => {
    const world = new ChatWorld();
    const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    world.upstream.willAnswer(() => ({ status: 500, headers: { 'content-type': 'application/json' }, body }));
    const error = errorOf(world.forward(chatRequest(), SERVICE, CHAT));
    await expect.poll(() => world.excerptDeadlines.spans).toEqual([10_000]);
    world.excerptDeadlines.pass(10_000);
    expect(await error).toMatchObject({ code: 'upstream_error', upstreamStatus: 500 });
  });

  it('is read up to 64 KiB', async () => {
    const start = '{"jsonrpc":"2.0","error":{"m":"';
    const full = `${start}${'x'.repeat(65_536 - start.length - 3)}"}}`;
    const headers = { 'content-type': 'application/json' };
    const response = await answerTo({
      status: 500,
      headers,
      body: new WatchedBody(full.slice(0, 999), full.slice(999)),
    });
    expect(text(response.body)).toHaveLength(65_536);
    const longer = new WatchedBody(full, ' ');
    expect(await errorOf(answerTo({ status: 500, headers, body: longer }))).toMatchObject({ code: 'upstream_error' });
    expect(longer.ended).toBe(true);
  });

  it('that breaks off is reported as an error of the agent', async () => {
    const body = {
      async *[Symbol.asyncIterator]() {
        await Promise.resolve();
        yield new TextEncoder().encode('{"jsonrpc":');
        throw new Error('socket hang up');
      },
    };
    const answer = answerTo({ status: 500, headers: { 'content-type': 'application/json' }, body });
    const error = await errorOf(answer);
    expect(error).toMatchObject({ code: 'upstream_error' });
    expect(error.logDetail()).toBe('status 500 from the agent, application/json: …');
  });
});
