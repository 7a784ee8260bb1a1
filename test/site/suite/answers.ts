import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../support/recording-upstream.js';
import type { Framework, HostMiddleware } from '../framework.js';
import { expectNextRequestWorks, readFailure, reasonOf, session, startWorld } from '../world.js';

const FAILURES: readonly (readonly [what: string, status: number, reason: string, answer: Answer])[] = [
  ['resets the connection before its head', 502, 'UPSTREAM_UNREACHABLE', (exchange) => exchange.reset()],
  [
    'sends garbage',
    502,
    'UPSTREAM_INVALID_RESPONSE',
    (exchange) => void exchange.raw('SSH-2.0-OpenSSH_9.6 on agent host\r\n\r\n'),
  ],
  [
    'responds 500 with an HTML page',
    500,
    'UPSTREAM_ERROR',
    (exchange) =>
      exchange.head(500, { 'content-type': 'text/html' }).end('<h1>NullPointer at /agent, token-1, 127.0.0.1</h1>'),
  ],
  [
    'responds 503',
    503,
    'UPSTREAM_ERROR',
    (exchange) => exchange.json(503, { host: '127.0.0.1' }, { 'retry-after': '17' }),
  ],
];

/** Responses of the agent that are not streams. */
export function answerSuite(framework: Framework): void {
  describe('a response of the agent', () => {
    it('arrives with its status, its bytes and the fields of the protocol', async () => {
      const { chat, upstream } = await startWorld(framework);
      const fields = {
        'a2a-version': '1.0',
        'a2a-extensions': 'x',
        'content-language': 'de',
        etag: '"1"',
        vary: 'A2A-Version',
      };
      const body = '{ "jsonrpc":"2.0", "id":7, "result":{"text":"grüezi €"} }\n';
      upstream.willAnswer((exchange) =>
        exchange.head(200, { 'content-type': 'application/json', ...fields }).end(body),
      );
      const reply = await chat();
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({ ...fields, vary: expect.stringContaining('A2A-Version') as string });
      expect(reply.headers['content-type']).toBe('application/json');
      expect(await reply.text()).toBe(body);
    });

    it('drops every other field of the agent', async () => {
      const { chat, upstream } = await startWorld(framework);
      const kept = {
        'set-cookie': ['platform=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'other=2'],
        'www-authenticate': 'Bearer realm="agent"',
        location: 'https://agent.example/',
        server: 'Agent/1.0',
        via: '1.1 inner',
        'x-powered-by': 'Platform',
        'access-control-allow-origin': '*',
        'access-control-allow-credentials': 'true',
        'strict-transport-security': 'max-age=1',
        'clear-site-data': '"*"',
        refresh: '0;url=https://evil.example',
        'x-accel-redirect': '/private',
        authorization: 'Bearer visitor-service-token-1',
        trailer: 'x-end',
      };
      upstream.willAnswer((exchange) => exchange.json(200, { jsonrpc: '2.0', id: 7, result: {} }, kept));
      const reply = await chat();
      await reply.text();
      for (const name of Object.keys(kept)) {
        if (name === 'x-powered-by') expect(reply.headers[name]).not.toBe('Platform');
        else expect(reply.headers, name).not.toHaveProperty(name);
      }
      expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    });

    it('keeps cookies the host has set, each in its own field', async () => {
      const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'];
      const before: HostMiddleware = (_request, response, next) => {
        response.setHeader('set-cookie', cookies);
        next();
      };
      const { chat } = await startWorld(framework, { before });
      expect((await chat()).headers['set-cookie']).toEqual(cookies);
    });

    it('arrives compressed when the agent compressed it unasked', async () => {
      const { chat, upstream } = await startWorld(framework);
      const text = '{"jsonrpc":"2.0","id":7,"result":{}}';
      const bytes = gzipSync(text);
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      upstream.willAnswer((exchange) => exchange.head(200, headers).end(bytes));
      const reply = await chat();
      if (framework.sendsPlainOnly === true) {
        expect(reply.headers).not.toHaveProperty('content-encoding');
        expect(await reply.text()).toBe(text);
        return;
      }
      expect(reply.headers['content-encoding']).toBe('gzip');
      expect((await reply.ending()).bytes.equals(bytes)).toBe(true);
    });

    it.each([
      ['application/json', 'application/json', undefined],
      ['text/html', 'application/json, text/html', "sandbox; default-src 'none'"],
    ])('with a second content type of %s has one field', async (second, field, policy) => {
      const { chat, upstream } = await startWorld(framework);
      const headersOfTwo = { 'content-type': ['application/json', second] };
      upstream.willAnswer((exchange) => exchange.head(200, headersOfTwo).end('{}'));
      const reply = await chat();
      expect([reply.status, await reply.text()]).toEqual([200, '{}']);
      expect(reply.headers['content-type']).toBe(field);
      expect(reply.headers['content-security-policy']).toBe(policy);
      expect(reply.headers['x-content-type-options']).toBe('nosniff');
    });

    it.each([204, 205, 304])('of status %i has no body, even if the platform sends one', async (status) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer(
        (exchange) => void exchange.raw(`HTTP/1.1 ${String(status)} X\r\nContent-Length: 3\r\n\r\nabc`),
      );
      const reply = await world.chat({ method: 'GET', path: '/api/service/files/7', headers: session('ada') });
      expect(reply.status).toBe(status);
      const { clean, bytes } = await reply.ending();
      expect([clean, bytes.length]).toEqual([true, 0]);
    });

    it('that the agent cuts off breaks the connection to the visitor', async () => {
      const world = await startWorld(framework);
      world.upstream.willWait();
      const pending = world.chat();
      const exchange = await world.upstream.next();
      exchange.head(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0"');
      const reply = await pending;
      await reply.until('2.0');
      exchange.reset();
      expect(await reply.ending()).toMatchObject({ clean: false });
      await expectNextRequestWorks(world);
    });
  });

  describe('an agent that', () => {
    it.each(FAILURES)('%s causes a %i with a JSON-RPC error', async (_what, status, reason, answer) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer(answer);
      const reply = await world.chat();
      expect(reply.status).toBe(status);
      const failure = await readFailure(world, reply);
      expect(failure).toMatchObject({ id: 7, error: { code: -32603 } });
      expect(reasonOf(failure)).toBe(reason);
      expect(world.upstream.requests).toHaveLength(1);
      const requestId = failure.error.data[0]?.metadata['requestId'];
      expect(world.telemetry.of('error')).toMatchObject([{ status, code: reason.toLowerCase(), requestId }]);
      await expectNextRequestWorks(world);
    });

    it('rejects the token receives the message once more, with a new token', async () => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => {
        const fresh = exchange.values('authorization')[0]?.endsWith('token-2') === true;
        exchange.json(fresh ? 200 : 401, { jsonrpc: '2.0', id: 7, result: { fresh } });
      });
      const reply = await world.chat({ path: '/api/a2a?x=1', headers: { 'a2a-version': '1.0' } });
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({ result: { fresh: true } });
      const [first, second] = world.upstream.requests;
      expect(world.upstream.requests).toHaveLength(2);
      expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
      expect(second?.target).toBe('/agent/v1?x=1');
      expect(second?.fields.filter(([name]) => name === 'authorization')).toHaveLength(1);
    });
  });
}
