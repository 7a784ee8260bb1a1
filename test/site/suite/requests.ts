import { describe, expect, it } from 'vitest';
import { RawClient } from '../../support/raw-client.js';
import { MESSAGE } from '../../support/visitor.js';
import { type Framework, type HostMiddleware, queryBehind } from '../framework.js';
import { ADA, startPlatformWorld } from '../platform-world.js';
import { startWorld } from '../world.js';

/** The parts of a message that reach the agent. */
export function requestSuite(framework: Framework): void {
  describe('a message to the agent', () => {
    it.each(['/api/a2a', '/api/a2a/'])('is forwarded to the agent from %s', async (path) => {
      const { chat, upstream } = await startWorld(framework);
      expect((await chat({ path })).status).toBe(200);
      expect(upstream.requests).toMatchObject([{ method: 'POST', target: '/agent/v1' }]);
    });

    it.each(['/api/a2a', '/api/a2a/'])('keeps its query unchanged after %s', async (path) => {
      const { chat, upstream } = await startWorld(framework);
      const query = '?A2A-Version=1.0&a=1&a=2&empty=&bare&b=%2F%20x+y&c=%E2%82%AC&d=;/?:@';
      await chat({ path: path + query });
      expect(upstream.requests.map(({ target }) => target)).toEqual([`/agent/v1${queryBehind(framework, query)}`]);
    });

    it('keeps its values and the text of its numbers, however it is written', async () => {
      const { chat, upstream } = await startWorld(framework);
      const params = '{"text":"\\u00e9 €\\n","n":1.50,"list":[ ]}';
      const body = `\r\n{ "jsonrpc" : "2.0",\t"id": 1e2, "method":"message/send","params" : ${params} }\n`;
      await chat({ body });
      const sent = upstream.requests[0]?.body.toString() ?? '';
      expect(JSON.parse(sent)).toEqual(JSON.parse(body));
      if (!framework.parsesJson) expect(sent).toMatch(/"id":1e2,.*"n":1\.50,/);
    });

    it('keeps its bytes if JSON.stringify wrote them', async () => {
      const { chat, upstream } = await startWorld(framework);
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 'é',
        method: 'message/send',
        params: { text: '€\n', list: [] },
      });
      await chat({ body });
      expect(upstream.requests[0]?.body.toString()).toBe(body);
    });

    it('keeps a file of 1.45 MB', async () => {
      const { chat, upstream } = await startWorld(framework);
      const raw = Buffer.alloc(1_087_500, 0x5a).toString('base64');
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { raw } });
      expect((await chat({ body })).status).toBe(200);
      expect(upstream.requests[0]?.body.equals(Buffer.from(body))).toBe(true);
    });

    it('has a Content-Length even if the browser sends it in chunks', async () => {
      const { chat, upstream } = await startWorld(framework);
      await chat({ chunked: true });
      const [request] = upstream.requests;
      expect(request?.body.toString()).toBe(MESSAGE);
      expect(request?.fields).toContainEqual(['content-length', String(MESSAGE.length)]);
      expect(request?.fields.map(([name]) => name)).not.toContain('transfer-encoding');
    });

    it('keeps the header fields of the protocol', async () => {
      const { chat, upstream } = await startWorld(framework);
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        accept: 'text/event-stream',
        'accept-language': 'de-CH, de;q=0.8',
        'a2a-version': '1.0',
        'a2a-extensions': 'https://extension.example/a',
        'x-a2a-extensions': 'https://extension.example/b',
        'last-event-id': '41',
        'idempotency-key': 'once',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'vendor=1',
      };
      await chat({ headers });
      const arrived = Object.fromEntries(upstream.requests[0]?.fields ?? []);
      // Two parsers could read a media type parameter differently.
      expect(arrived).toMatchObject({ ...headers, 'content-type': 'application/json' });
    });

    it('drops every other header field', async () => {
      const { chat, upstream } = await startWorld(framework);
      await chat({
        headers: {
          authorization: 'Bearer of-the-visitor',
          cookie: 'session=secret',
          forwarded: 'for=1.2.3.4;host=evil.example',
          'x-forwarded-for': '1.2.3.4',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'https',
          'x-forwarded-user': 'admin',
          'x-real-ip': '1.2.3.4',
          'x-api-key': 'of-the-visitor',
          x_api_key: 'of-the-visitor',
          'x-project-id': 'of-the-visitor',
          'x-http-method-override': 'DELETE',
          'proxy-authorization': 'Basic abc',
          'proxy-connection': 'keep-alive',
          'keep-alive': 'timeout=5',
          te: 'trailers',
          expect: '100-continue',
          'accept-encoding': 'gzip, br',
          'if-none-match': '"1"',
          range: 'bytes=0-1',
          referer: 'https://site.example/secret',
          'user-agent': 'Visitor/1.0',
          'x-anything': 'else',
        },
      });
      const names = upstream.requests[0]?.fields.map(([name]) => name).toSorted();
      expect(names).toEqual([
        'accept-encoding',
        'authorization',
        'connection',
        'content-length',
        'content-type',
        'host',
        'x-api-key',
      ]);
      // The visitor's value is not forwarded. The site requests uncompressed bytes.
      expect(upstream.requests[0]?.fields).toContainEqual(['accept-encoding', 'identity']);
    });

    it('may have numbers in the `headers` of a host, on every route', async () => {
      const before: HostMiddleware = (request, _response, next) => {
        const length = Number(request.headers['content-length'] ?? 0);
        const odd = { 'content-length': length, 'x-forwarded-port': 443, 'x-hops': [1, 2], dnt: 1, 'x-empty': null };
        Object.assign(request, { headers: { ...request.headers, ...odd, 'if-match': 7, 'if-none-match': [7, 8] } });
        next();
      };
      const world = await startPlatformWorld(framework, { before });
      const replies = [
        await world.chat(),
        await world.visit('/api/a2a/config', { headers: ADA }),
        await world.visit('/api/service-surfaces/counter/render', { method: 'POST', headers: ADA, body: '{}' }),
        await world.visit('/api/service/conversations', { headers: ADA }),
        await world.visit('/api/service/conversations/1', { method: 'PUT', headers: ADA, body: '{"a":1}' }),
      ];
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(world.upstream.requests.at(-1)?.body.toString()).toBe('{"a":1}');
    });

    it('has only the site’s credential even if the browser sends four', async () => {
      const { upstream, url } = await startWorld(framework);
      const client = await RawClient.connect(url);
      await client.send(
        `POST /api/a2a HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/json\r\nContent-Length: ${MESSAGE.length}\r\n` +
          `AUTHORIZATION: Bearer one\r\nAuthorization: Bearer two\r\nX-API-Key: three\r\nx-api-key: four\r\n\r\n${MESSAGE}`,
      );
      await client.until('"result"');
      client.close();
      const fields = upstream.requests[0]?.fields.filter(([name]) => name === 'authorization' || name === 'x-api-key');
      expect(fields).toEqual([
        ['authorization', 'Bearer visitor-service-token-1'],
        ['x-api-key', 'the-api-key'],
      ]);
    });
  });
}
