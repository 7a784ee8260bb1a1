import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawClient } from '../../support/raw-client.js';
import { type Framework, queryBehind } from '../framework.js';
import { listeningSite } from '../frameworks/listening-site.js';
import { ADA, readProblem, sentPaths, startPlatformWorld } from '../platform-world.js';

const MOUNT = '/api/service';
const BINARY = { 'content-type': 'application/octet-stream' };

/** Conversation records of signed-in users. */
export function recordSuite(framework: Framework): void {
  describe('a request for records', () => {
    it.each(['GET', 'HEAD', 'POST', 'DELETE'])('gets 401 when no user is signed in: %s', async (method) => {
      const world = await startPlatformWorld(framework);
      const body = method === 'POST' ? 'x' : null;
      const answer = await world.visit(`${MOUNT}/conversations/7`, { method, body, headers: BINARY });
      expect(answer.status).toBe(401);
      if (method === 'HEAD') expect(await answer.text()).toBe('');
      else expect((await readProblem(world, answer)).code).toBe('session_required');
      expect(world.upstream.requests).toEqual([]);
    });

    it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      'is sent unchanged with the token of the user: %s',
      async (method) => {
        const world = await startPlatformWorld(framework);
        const bytes = method === 'GET' ? null : randomBytes(1_000);
        const query = '?a=1&a=2&empty=&bare&b=%2F%20x+y&c=%E2%82%AC&d=;/?:@';
        const crossing = {
          accept: 'application/json',
          'accept-language': 'de-CH',
          'idempotency-key': 'once',
          'if-match': '"1"',
          range: 'bytes=0-9',
        };
        const mine = { ...ADA, authorization: 'Bearer of-mine', 'x-api-key': 'of-mine', 'x-project-id': 'of-mine' };
        const headers = { ...(bytes === null ? {} : BINARY), ...crossing, ...mine };
        const answer = await world.visit(`${MOUNT}/conversations/7${query}`, { method, body: bytes, headers });
        expect(answer.status).toBe(200);
        expect(sentPaths(world)).toEqual([`/conversations/7${queryBehind(framework, query)}`]);
        const [request] = world.upstream.requests;
        expect(request?.method).toBe(method);
        expect(request?.body.equals(bytes ?? Buffer.alloc(0))).toBe(true);
        const fields = Object.fromEntries(request?.fields ?? []);
        expect(fields).toMatchObject({ ...crossing, 'x-api-key': 'the-api-key' });
        expect(fields['authorization']).toBe('Bearer token-of-ada');
        expect(fields).not.toHaveProperty('cookie');
        expect(JSON.stringify(request?.fields)).not.toContain('of-mine');
      },
    );

    it('carries the token of its own user among 20 concurrent ones', async () => {
      const world = await startPlatformWorld(framework);
      const users = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'ada' : 'bob'));
      await Promise.all(
        users.map(async (user) =>
          (await world.visit(`${MOUNT}/of-${user}`, { headers: { cookie: `session=${user}` } })).text(),
        ),
      );
      expect(world.upstream.requests).toHaveLength(20);
      for (const { target, fields } of world.upstream.requests) {
        const user = target.split('/of-')[1] ?? '';
        expect(fields).toContainEqual(['authorization', `Bearer token-of-${user}`]);
      }
    });

    it('gets 403 from a page of another site, even for a GET', async () => {
      const world = await startPlatformWorld(framework);
      for (const [method, headers] of [
        ['GET', { 'sec-fetch-site': 'cross-site' }],
        ['POST', { origin: 'https://evil.example' }],
        ['DELETE', { 'sec-fetch-site': 'same-site' }],
      ] as const) {
        const answer = await world.visit(`${MOUNT}/conversations`, { method, headers: { ...ADA, ...headers } });
        expect([answer.status, (await readProblem(world, answer)).code]).toEqual([403, 'origin_refused']);
      }
      expect(world.upstream.requests).toEqual([]);
    });

    it('gets 421 under an unknown host, even for a GET', async () => {
      const world = await startPlatformWorld(framework, { allowedHosts: ['site.example'] });
      const own = { ...ADA, host: 'site.example:3000' };
      expect((await world.visit(`${MOUNT}/conversations`, { headers: own })).status).toBe(200);
      const before = world.upstream.requests.length;
      for (const method of ['GET', 'POST']) {
        const answer = await world.visit(`${MOUNT}/conversations`, {
          method,
          headers: { ...ADA, host: 'evil.example' },
        });
        expect([answer.status, (await readProblem(world, answer)).code]).toEqual([421, 'host_refused']);
      }
      expect(world.upstream.requests.length).toBe(before);
    });

    it('by TRACE is rejected without a call to the platform', async () => {
      const world = await startPlatformWorld(framework);
      const client = await RawClient.connect(world.url);
      const head = `Host: site.example\r\nCookie: ${ADA.cookie}\r\nConnection: close\r\n`;
      await client.send(`TRACE ${MOUNT}/conversations HTTP/1.1\r\n${head}\r\n`);
      const answer = await client.ending();
      expect(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])).toBeGreaterThanOrEqual(400);
      expect(answer).not.toContain('session=ada');
      expect(world.upstream.requests).toEqual([]);
    });

    /** An upload whose first part has reached the platform. */
    async function halfAnUpload() {
      const part = randomBytes(70_000);
      const arrivals = new EventEmitter();
      const platform = await listeningSite((...exchange) => arrivals.emit('upload', ...exchange));
      onTestFinished(() => platform.close());
      const world = await startPlatformWorld(framework, { serviceApiUrl: `${platform.url}/api` });
      const arrived = once(arrivals, 'upload');
      const visit = world.startUpload(`${MOUNT}/files/7`, { ...ADA, ...BINARY });
      visit.request.write(part);
      const [incoming, response] = (await arrived) as [IncomingMessage, ServerResponse];
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      await expect.poll(() => Buffer.concat(chunks).equals(part)).toBe(true);
      return { visit, part, incoming, response, chunks };
    }

    it('streams its body: the platform gets the first part before the second is sent', async () => {
      const { visit, part, incoming, response, chunks } = await halfAnUpload();
      const rest = randomBytes(70_000);
      visit.request.end(rest);
      await once(incoming, 'end');
      expect(Buffer.concat(chunks).equals(Buffer.concat([part, rest]))).toBe(true);
      response.writeHead(201).end();
      expect((await visit.reply).status).toBe(201);
    });

    it('aborted during an upload is aborted at the platform', async () => {
      const { visit, incoming } = await halfAnUpload();
      const failed = once(incoming, 'error');
      visit.leave();
      expect(await failed).toMatchObject([{ message: 'aborted' }]);
    });
  });

  describe('a response with records', () => {
    /** An export whose first half has reached the visitor, and the platform's side of it. */
    async function halfAnExport() {
      const world = await startPlatformWorld(framework);
      world.upstream.willWait();
      const pending = world.visit(`${MOUNT}/export`, { headers: ADA });
      const exchange = await world.upstream.next();
      exchange.head(200, BINARY).write('half');
      const answer = await pending;
      await answer.until('half');
      return { answer, exchange };
    }

    it('arrives with its bytes and only the fields about its content', async () => {
      const world = await startPlatformWorld(framework);
      const bytes = randomBytes(1_000);
      const fields = {
        'content-type': 'image/png',
        'content-range': 'bytes 0-999/5000',
        // Reserialized in the shortest form of the same name.
        'content-disposition': 'attachment; filename=x.png',
        etag: '"7"',
        'accept-ranges': 'bytes',
      };
      const left = { 'set-cookie': ['platform=1', 'other=2'], server: 'Platform/1.0', 'x-internal': 'host' };
      world.upstream.willAnswer((exchange) =>
        exchange.head(206, { ...fields, ...left, 'cache-control': 'public, max-age=60' }).end(bytes),
      );
      const answer = await world.visit(`${MOUNT}/files/7`, { headers: ADA });
      expect(answer.status).toBe(206);
      expect(answer.headers).toMatchObject({
        ...fields,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      for (const name of Object.keys(left)) expect(answer.headers, name).not.toHaveProperty(name);
      expect((await answer.ending()).bytes.equals(bytes)).toBe(true);
    });

    it('is streamed: the visitor gets each part before the next is sent', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willWait();
      const pending = world.visit(`${MOUNT}/export`, { headers: ADA });
      const exchange = await world.upstream.next();
      // Some servers send the head with the first part only.
      exchange.head(200, { 'content-type': 'application/x-ndjson' }).write('{"line":1}\n');
      const answer = await pending;
      for (let count = 1; count <= 5; count += 1) {
        await answer.until(`{"line":${String(count)}}\n`);
        exchange.write(`{"line":${String(count + 1)}}\n`);
      }
      exchange.end();
      expect(await answer.ending()).toMatchObject({ clean: true });
    });

    it('that the platform cuts off breaks the connection to the visitor', async () => {
      const { answer, exchange } = await halfAnExport();
      exchange.reset();
      expect(await answer.ending()).toMatchObject({ clean: false });
    });

    it('is aborted at the platform when the visitor disconnects', async () => {
      const { answer, exchange } = await halfAnExport();
      answer.leave();
      await exchange.closed;
      expect(exchange.aborted).toBe(true);
    });
  });
}
