import { describe, expect, it } from 'vitest';
import { MESSAGE } from '../../support/visitor.js';
import type { Framework, HostMiddleware } from '../framework.js';
import { readFailure, reasonOf, session, startWorld } from '../world.js';

/** Consumes the body like an unknown middleware, and leaves the result of `keep` on the request. */
function reading(keep: (bytes: Buffer) => { body?: unknown; rawBody?: unknown }): HostMiddleware {
  return (request, _response, next) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      Object.assign(request, keep(Buffer.concat(chunks)));
      next();
    });
  };
}

/** Bodies that middleware of the host has consumed before the routes run. */
export function hostBodySuite(framework: Framework): void {
  if (framework.isWebStandard === true) {
    it('a body that Node middleware has consumed is not forwarded as an empty one', async () => {
      const { chat, upstream } = await startWorld(framework, { before: reading(() => ({})) });
      expect((await chat()).status).toBeGreaterThanOrEqual(400);
      expect(upstream.requests).toEqual([]);
    });
    return;
  }

  describe('a body that middleware has already consumed', () => {
    const spaced = MESSAGE.replace(':', ' : ');

    it.each<[string, (bytes: Buffer) => { body?: unknown; rawBody?: unknown }]>([
      ['bytes', (bytes) => ({ body: bytes })],
      ['text', (bytes) => ({ body: bytes.toString() })],
      ['a value', (bytes) => ({ body: JSON.parse(bytes.toString()) as unknown })],
      ['raw bytes beside a value', (bytes) => ({ rawBody: bytes, body: { other: 'value' } })],
    ])('reaches the agent when the middleware left it as %s', async (_how, keep) => {
      const { chat, upstream } = await startWorld(framework, { before: reading(keep) });
      expect((await chat({ body: spaced })).status).toBe(200);
      expect(upstream.requests.map(({ body }) => body.toString())).toEqual([MESSAGE]);
    });

    it('gets a 500 that names the cause when the middleware did not keep it', async () => {
      const world = await startWorld(framework, { before: reading(() => ({})) });
      const reply = await world.chat();
      expect(reply.status).toBe(500);
      const failure = await readFailure(world, reply);
      expect(reasonOf(failure)).toBe('BODY_CONSUMED');
      expect(failure.error.message).toContain('middleware');
      expect(failure.error.message).toContain('"req.rawBody"');
      expect(world.upstream.requests).toEqual([]);
    });

    it('of a record gets a 500 as well', async () => {
      const world = await startWorld(framework, { before: reading(() => ({})) });
      const reply = await world.chat({ path: '/api/service/files/7', headers: session('ada') });
      expect([reply.status, await reply.json()]).toEqual([500, expect.objectContaining({ code: 'body_consumed' })]);
      expect(world.upstream.requests).toEqual([]);
    });

    it('gets a 400 when the middleware left text that is not JSON', async () => {
      const world = await startWorld(framework, { before: reading(() => ({ body: 'hello' })) });
      const reply = await world.chat();
      expect(reply.status).toBe(400);
      expect(reasonOf(await readFailure(world, reply))).toBe('BODY_INVALID');
    });

    it('gets 413 above the limit when the middleware left it as bytes', async () => {
      const before = reading((bytes) => ({ body: bytes }));
      const world = await startWorld(framework, { before, bodyLimitBytes: 20 });
      expect((await world.chat({ chunked: true })).status).toBe(413);
    });

    it('is read from the request when a parser only left an empty object', async () => {
      const before: HostMiddleware = (request, _response, next) => {
        request.body = {};
        next();
      };
      const { chat, upstream } = await startWorld(framework, { before });
      await chat();
      expect(upstream.requests[0]?.body.toString()).toBe(MESSAGE);
    });
  });
}
