import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RawClient } from '../../support/raw-client.js';
import { MESSAGE } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { expectNextRequestWorks, expectNothingLeaked, readFailure, reasonOf, startWorld } from '../world.js';

const TOO_LARGE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: 'x'.repeat(2_200_000) });

/** Requests that the site rejects without calling the agent. */
export function refusalSuite(framework: Framework): void {
  describe('while the site closes', () => {
    const chat = `content-type: application/json\r\ncontent-length: ${String(MESSAGE.length)}\r\n\r\n${MESSAGE}`;
    const head = (start: string): string => `${start} HTTP/1.1\r\nhost: site.example\r\n`;
    const CHAT = head('POST /api/a2a') + chat;

    it('every response ends its connection, on each route', async () => {
      const world = await startWorld(framework, { allowedHosts: ['site.example'] });
      const asked = [
        CHAT,
        CHAT.replace('site.example', 'evil.example'),
        `${head('GET /api/a2a/config')}\r\n`,
        `${head('GET /api/a2a/none')}\r\n`,
        head('POST /api/service-surfaces/counter/render') + chat,
        `${head('GET /api/service/conversations')}cookie: session=ada\r\n\r\n`,
      ];
      await world.toolkit.close();
      for (const text of asked) {
        const visitor = await RawClient.connect(world.url);
        await visitor.send(text);
        expect(await visitor.ending()).toMatch(/^HTTP\/1\.1 503 (?=[^]*\r\nconnection: close\r\n)/i);
      }
    });

    it('the next response on a kept connection is the last, for a waiting request and after a stream', async () => {
      const world = await startWorld(framework);
      const [kept, streaming, waiting] = await Promise.all([1, 2, 3].map(() => RawClient.connect(world.url)));
      await kept?.send(CHAT);
      await kept?.until('task-1');
      world.upstream.willWait();
      await streaming?.send(CHAT);
      const stream = (await world.upstream.next()).eventStream();
      await streaming?.until('\r\n\r\n');
      await waiting?.send(CHAT);
      const late = await world.upstream.next();
      const closing = world.toolkit.close({ graceMs: 60_000 });
      late.json(200, { jsonrpc: '2.0', id: 7, result: { id: 'late' } });
      expect(await waiting?.ending()).toMatch(/^HTTP\/1\.1 200 (?=[^]*\r\nconnection: close\r\n)[^]*late/i);
      await kept?.send(CHAT.repeat(3));
      expect((await kept?.ending())?.split('HTTP/1.1 503')).toHaveLength(2);
      stream.end('data: last\n\n');
      await streaming?.until('data: last');
      await closing;
      await streaming?.send(CHAT);
      expect((await streaming?.ending())?.split('HTTP/1.1 503')).toHaveLength(2);
    });
  });

  describe('a request that is not for the agent', () => {
    it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('gets 405 with Allow when it is a %s', async (method) => {
      const world = await startWorld(framework);
      const reply = await world.chat({ method });
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toBe('POST');
      expect(reply.headers['content-type']).toBe('application/problem+json');
      const text = await reply.text();
      expect(JSON.parse(text)).toMatchObject({
        status: 405,
        code: 'method_not_allowed',
        title: 'Method not allowed',
      });
      expectNothingLeaked(world, reply, text);
      expect(world.upstream.requests).toEqual([]);
    });

    it('gets 405 without a body when it is a HEAD', async () => {
      const { chat, upstream } = await startWorld(framework);
      const reply = await chat({ method: 'HEAD' });
      expect(reply.status).toBe(405);
      expect(reply.headers.allow).toBe('POST');
      expect(await reply.text()).toBe('');
      expect(upstream.requests).toEqual([]);
    });

    const inside = ['/api/a2a/message:send', '/api/a2a/tasks/1', '/api/a2a/.well-known/x'];
    const outside = ['/api/a2abc', '/api', '/api/a2'];
    // A Web `Request` has resolved dot segments, so its path is `/api/admin`.
    (framework.isWebStandard === true ? outside : inside).push('/api/a2a/%2e%2e/admin');

    it.each(inside)('gets 404 when it is posted to %s', async (path) => {
      const { chat, upstream } = await startWorld(framework);
      const reply = await chat({ path });
      expect(reply.status).toBe(404);
      expect(reply.headers['content-type']).toBe('application/problem+json');
      expect(await reply.json()).toMatchObject({ status: 404, code: 'not_found' });
      expect(upstream.requests).toEqual([]);
    });

    it.each(outside)('is passed to the host when it is posted to %s', async (path) => {
      const { chat, upstream } = await startWorld(framework);
      expect(await (await chat({ path })).text()).toBe('host');
      expect(upstream.requests).toEqual([]);
    });

    it('gets 403 from a page of another site, without a call to the agent', async () => {
      const world = await startWorld(framework);
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
        const reply = await world.chat({ headers });
        expect(reply.status).toBe(403);
        expect(reasonOf(await readFailure(world, reply))).toBe('ORIGIN_REFUSED');
      }
      expect(world.upstream.requests).toEqual([]);
    });

    it('gets 403 with the mend from the own page, if a proxy replaces "Host" over plain http', async () => {
      const { chat, upstream } = await startWorld(framework);
      const forwarded = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'site.example' };
      const headers = { host: '10.0.0.7:3000', origin: 'http://site.example', ...forwarded };
      const reply = await chat({ headers });
      expect(reply.status).toBe(403);
      expect(await reply.text()).toMatch(/set \\"publicUrl\\" to the address visitors use.*"trust proxy\\" in Express/);
      expect(upstream.requests).toEqual([]);
    });

    it('gets 421 under an unknown host, without a call to the agent', async () => {
      const world = await startWorld(framework, { allowedHosts: ['site.example'] });
      expect((await world.chat({ headers: { host: 'site.example' } })).status).toBe(200);
      const before = world.upstream.requests.length;
      const reply = await world.chat({ headers: { host: 'evil.example', origin: 'http://evil.example' } });
      expect(reply.status).toBe(421);
      expect(reasonOf(await readFailure(world, reply))).toBe('HOST_REFUSED');
      expect(world.upstream.requests.length).toBe(before);
    });
  });

  describe('an invalid body', () => {
    it.each(['{"jsonrpc":', 'hello', '[', '\u0000'])('gets 400 when it is %j', async (body) => {
      const world = await startWorld(framework);
      const reply = await world.chat({ body });
      expect(reply.status).toBe(400);
      // The host's parser has its own error response.
      if (framework.parsesJson) await reply.text();
      else {
        const failure = await readFailure(world, reply);
        expect(failure).toMatchObject({ id: null, error: { code: -32700 } });
        expect(reasonOf(failure)).toBe('BODY_INVALID');
      }
      expect(world.upstream.requests).toEqual([]);
      await expectNextRequestWorks(world);
    });

    it('gets 400 when it is empty', async () => {
      const world = await startWorld(framework);
      const reply = await world.chat({ body: '' });
      expect(reply.status).toBe(400);
      expect(await readFailure(world, reply)).toMatchObject({ error: { code: -32700 } });
      expect(world.upstream.requests).toEqual([]);
    });

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'multipart/form-data; boundary=x',
    ])('gets 400 when it is declared as %s', async (type) => {
      const world = await startWorld(framework);
      const reply = await world.chat({ headers: { 'content-type': type } });
      expect(reply.status).toBe(400);
      const failure = await readFailure(world, reply);
      expect(failure.error.code).toBe(-32005);
      expect(reasonOf(failure)).toBe('CONTENT_TYPE_UNSUPPORTED');
      expect(world.upstream.requests).toEqual([]);
    });

    it.each([
      ['with its length', false],
      ['without its length', true],
    ])('gets 413 when it is too large and sent %s', async (_how, chunked) => {
      const world = await startWorld(framework);
      const reply = await world.chat({ body: TOO_LARGE, chunked });
      expect(reply.status).toBe(413);
      if (framework.parsesJson) await reply.text();
      else expect(reasonOf(await readFailure(world, reply))).toBe('BODY_TOO_LARGE');
      expect(world.upstream.requests).toEqual([]);
      await expectNextRequestWorks(world);
    });

    // If a parser or a Web server reads the body, it also handles the connection.
    const isHosts = framework.parsesJson || framework.isWebStandard === true;
    const after = isHosts ? 'the connection still serves the next message' : 'the connection closes';

    it(`can still be sent after the 413, and ${after}`, async () => {
      const world = await startWorld(framework);
      const client = await RawClient.connect(world.url);
      const head = 'Host: site.example\r\nContent-Type: application/json\r\n';
      await client.send(`POST /api/a2a HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`);
      const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
      for (let sent = 0; sent < 256; sent += 1) await client.send(chunk);
      await client.send('0\r\n\r\n');
      await client.until('HTTP/1.1 413');
      if (!isHosts) {
        expect(await client.ending()).toMatch(/\r\nconnection: close\r\n/i);
        return;
      }
      await client.send(`POST /api/a2a HTTP/1.1\r\n${head}Content-Length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`);
      await client.until('"task-1"');
      client.close();
      expect(world.upstream.requests).toHaveLength(1);
    });

    it('is not forwarded when the browser leaves while sending it', async () => {
      const world = await startWorld(framework);
      const { request, leave } = world.start({ body: null, headers: { 'content-type': 'application/json' } });
      request.destroy();
      leave();
      const client = await RawClient.connect(world.url);
      await client.send(
        `POST /api/a2a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n${MESSAGE}`,
      );
      client.close();
      await expectNextRequestWorks(world);
      expect(world.upstream.requests).toHaveLength(1);
    });

    if (framework.parsesJson) {
      it('arrives decompressed when the host’s parser read it', async () => {
        const world = await startWorld(framework);
        const headers = { 'content-encoding': 'gzip' };
        expect((await world.chat({ body: gzipSync(MESSAGE), headers })).status).toBe(200);
        const [request] = world.upstream.requests;
        expect(request?.body.toString()).toBe(MESSAGE);
        expect(request?.fields.map(([name]) => name)).not.toContain('content-encoding');
      });
    } else {
      it('gets 415 when it is compressed', async () => {
        const world = await startWorld(framework);
        const headers = { 'content-encoding': 'gzip' };
        const reply = await world.chat({ body: gzipSync(MESSAGE), headers });
        expect(reply.status).toBe(415);
        const failure = await readFailure(world, reply);
        expect(reasonOf(failure)).toBe('CONTENT_ENCODING_UNSUPPORTED');
        expect(failure.error.message).toContain('express.json()');
        expect(world.upstream.requests).toEqual([]);
        await expectNextRequestWorks(world);
      });

      it('gets 413 for its Content-Length, before its first byte', async () => {
        const { upstream, url } = await startWorld(framework);
        const client = await RawClient.connect(url);
        await client.send(
          'POST /api/a2a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n',
        );
        await client.until('HTTP/1.1 413');
        client.close();
        expect(upstream.requests).toEqual([]);
      });

      it('is accepted at the limit, and gets 413 one byte above it', async () => {
        const bodyLimitBytes = MESSAGE.length;
        const world = await startWorld(framework, { bodyLimitBytes });
        for (const chunked of [false, true]) {
          expect((await world.chat({ chunked })).status).toBe(200);
          expect((await world.chat({ body: `${MESSAGE} `, chunked })).status).toBe(413);
        }
        expect(world.upstream.requests).toHaveLength(2);
      });
    }
  });
}
