import { describe, expect, it } from 'vitest';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, readFailure, reasonOf, session, startWorld } from '../world.js';

const RESULT = '{"jsonrpc":"2.0","id":7,"result":{}}';
const OK = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${String(RESULT.length)}\r\n`;
/** Unexpected responses of the agent (decision 85). */
export function unexpectedResponseSuite(framework: Framework): void {
  describe('a response of the agent', () => {
    it('with an unrequested content coding causes a 502', async () => {
      const world = await startWorld(framework);
      world.upstream.willAnswer((exchange) => void exchange.raw(`${OK}Content-Encoding: zstd\r\n\r\n${RESULT}`));
      const reply = await world.chat();
      expect(reply.status).toBe(502);
      expect(reasonOf(await readFailure(world, reply))).toBe('UPSTREAM_INVALID_RESPONSE');
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

    it.each([204, 205, 304])('of status %i has no body, even if the agent sends one', async (status) => {
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
