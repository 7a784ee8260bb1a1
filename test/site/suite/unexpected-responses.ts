import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, readFailure, reasonOf, session, startWorld } from '../world.js';

const RESULT = '{"jsonrpc":"2.0","id":7,"result":{}}';
const OK = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${String(RESULT.length)}\r\n`;
const GZIP = gzipSync(gzipSync(RESULT)).toString('latin1');
const LENGTH = `Content-Length: ${String(GZIP.length)}\r\n`;

/** Heads nobody can make sense of. */
const SENSELESS: readonly (readonly [string, string])[] = [
  ['a status of 000', `HTTP/1.1 000 X\r\nContent-Length: 2\r\n\r\n{}`],
  ['a status of 099', `HTTP/1.1 099\r\nContent-Length: 2\r\n\r\n{}`],
  ['a change of protocols that names none', 'HTTP/1.1 101 S\r\nContent-Length: 2\r\n\r\n{}'],
  ['a coding upon a coding', `HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n${LENGTH}\r\n${GZIP}`],
  [
    'two fields of codings',
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n${LENGTH}\r\n${GZIP}`,
  ],
  ['an unknown coding', `${OK}Content-Encoding: rot13\r\n\r\n${RESULT}`],
  ['a coding the browser did not ask for', `${OK}Content-Encoding: zstd\r\n\r\n${RESULT}`],
];

/** Responses of the agent that nobody expects (decision 85). */
export function unexpectedResponseSuite(framework: Framework): void {
  describe('a response of the agent', () => {
    it.each(SENSELESS)('with %s is a 502 at once', async (_what, bytes) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => void exchange.raw(Buffer.from(bytes, 'latin1')));
      const began = performance.now();
      const reply = await world.chat();
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(reply.status).toBe(502);
      expect(reasonOf(await readFailure(world, reply))).toBe('UPSTREAM_INVALID_RESPONSE');
      expect(world.upstream.requests).toHaveLength(1);
      await expectNextRequestWorks(world);
    });

    it.each([
      ['application/json', 'application/json'],
      ['text/html', 'application/json, text/html'],
    ])('with a second content type of %s has one field', async (second, field) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => void exchange.raw(`${OK}Content-Type: ${second}\r\n\r\n${RESULT}`));
      const reply = await world.chat();
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe(field);
      expect(await reply.text()).toBe(RESULT);
    });

    it.each([
      ['one', 'HTTP/1.1 100 Continue\r\n\r\n'],
      [
        'several',
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 C\r\nX: y\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
      ],
    ])('after %s that nobody asked for arrives', async (_count, interim) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => void exchange.raw(`${interim}${OK}\r\n${RESULT}`));
      const reply = await world.chat();
      expect(reply.status).toBe(200);
      expect(await reply.text()).toBe(RESULT);
      expect(world.upstream.requests).toHaveLength(1);
    });

    it.each([204, 205, 304])('of status %i has no body, whatever is sent', async (status) => {
      const world = await startWorld(framework);
      world.upstream.willAnswer(
        (exchange) => void exchange.raw(`HTTP/1.1 ${String(status)} X\r\nContent-Length: 3\r\n\r\nabc`),
      );
      const headers = { cookie: session('ada').cookie };
      const reply = await world.chat({ method: 'GET', path: '/api/service/files/7', headers });
      expect(reply.status).toBe(status);
      expect(await reply.text()).toBe('');
    });
  });
}
