import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { request as secureRequest } from 'node:https';
import type { NodeListener } from 'agent-bff/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeListener } from '../../src/adapters/node/node-listener.js';
import type { HttpRequest } from '../../src/ports/http.js';
import { session } from '../site/world.js';
import { answer, arrive, close, listen, startSite, startStream, visitorOf } from '../support/http2-site.js';
import { privateAuthority } from '../support/identity-provider/private-authority.js';

const INTERNAL_ERROR = 2;
const MIB = 1_048_576;

describe('a request over HTTP/2', () => {
  it('has the same fields as over HTTP/1.1', async () => {
    const seen: HttpRequest[] = [];
    const visitor = await visitorOf((request) => {
      seen.push(request);
      return Promise.resolve(answer(request.publicUrl));
    });
    const headers = { ':authority': 'site.example:8080', 'x-forwarded-host': 'evil.example', accept: '*/*' };
    const reply = await visitor.visit({ method: 'DELETE', path: '/api/a2a/x%2Fy?q=%20', headers });
    expect(await reply.text()).toBe('http://site.example:8080/api/a2a');
    expect(seen).toMatchObject([{ method: 'DELETE', path: '/x%2Fy', query: '?q=%20', body: null }]);
    expect({ ...seen[0]?.headers }).toEqual({
      host: 'site.example:8080',
      'x-forwarded-host': 'evil.example',
      accept: '*/*',
    });
  });

  it('uses :authority when Host differs', async () => {
    const visitor = await visitorOf(({ headers }) => Promise.resolve(answer(String(headers['host']))));
    const headers = { ':authority': 'site.example', host: 'evil.example' };
    expect(await (await visitor.visit({ headers })).text()).toBe('site.example');
  });

  it('joins its cookie fields', async () => {
    const visitor = await visitorOf(({ headers }) => Promise.resolve(answer(String(headers['cookie']))));
    const headers = { cookie: ['a=1', 'b=2; c=3', 'd=4'] };
    expect(await (await visitor.visit({ headers })).text()).toBe('a=1; b=2; c=3; d=4');
  });

  it('has a body without a field that announces it', async () => {
    const { world, visitor } = await startSite();
    const reply = await visitor.visit();
    expect([reply.status, JSON.parse(await reply.text())]).toEqual([
      200,
      { jsonrpc: '2.0', id: 7, result: { id: 'task-1' } },
    ]);
    expect(world.upstream.requests[0]?.fields.map(([name]) => name).filter((name) => name.startsWith(':'))).toEqual([]);
  });

  it('passes the origin check for its own page only', async () => {
    const { world, visitor } = await startSite();
    const { host } = new URL(world.url);
    expect((await visitor.visit({ headers: { origin: `http://${host}` } })).status).toBe(200);
    expect((await visitor.visit({ headers: { origin: 'http://evil.example' } })).status).toBe(403);
  });

  it('is rejected for an unknown :authority whatever its Host', async () => {
    const { world, visitor } = await startSite({ allowedHosts: ['site.example'] });
    expect((await visitor.visit({ headers: { ':authority': 'site.example' } })).status).toBe(200);
    const reply = await visitor.visit({ headers: { ':authority': 'evil.example', host: 'site.example' } });
    expect([reply.status, await reply.text()]).toEqual([421, expect.stringContaining('HOST_REFUSED')]);
    expect(world.upstream.requests).toHaveLength(1);
  });

  it.each([
    ['while it is read', false, ['half', 'cut']],
    ['before it is read', true, ['cut']],
  ])('that breaks off in mid-upload is never complete: %s', async (_when, isLate, expected) => {
    const readings: string[] = [];
    let over: () => void = () => undefined;
    const isOver = new Promise<void>((resolve) => {
      over = resolve;
    });
    let begun: () => void = () => undefined;
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const visitor = await visitorOf(async ({ body, signal }) => {
      if (isLate) {
        begun();
        await once(signal, 'abort');
      }
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          readings.push(Buffer.from(chunk).toString());
          begun();
        }
        readings.push('complete');
      } catch {
        readings.push('cut');
      }
      over();
      return answer('');
    });
    const { stream } = visitor.start({ body: 'half', unfinished: true });
    await hasBegun;
    stream.destroy();
    await isOver;
    expect(readings).toEqual(expected);
  });

  it('of 8 MiB reaches the platform unchanged', async () => {
    const { world, visitor } = await startSite();
    world.upstream.willAnswer((exchange) => exchange.json(200, { length: exchange.request.body.length }));
    const body = 'x'.repeat(8 * MIB);
    const reply = await visitor.visit({ path: '/api/service/files', body, headers: session('ann') });
    expect(JSON.parse(await reply.text())).toEqual({ length: body.length });
    expect(world.upstream.requests[0]?.body.equals(Buffer.from(body))).toBe(true);
  });
});

describe('a response over HTTP/2', () => {
  it('has no connection fields (RFC 9113 §8.2.2)', async () => {
    const fields = { connection: 'close', 'keep-alive': 'timeout=5', 'transfer-encoding': 'chunked', 'x-kept': 'yes' };
    const visitor = await visitorOf(() => Promise.resolve(answer('text', fields)));
    const { headers } = await visitor.visit();
    expect(Object.keys(headers).sort()).toEqual([':status', 'date', 'x-kept']);
  });

  it('has the length of a body that is known in one piece, however long', async () => {
    const reply = await (await visitorOf(() => Promise.resolve(answer('x'.repeat(MIB))))).visit();
    expect(reply.headers['content-length']).toBe(String(MIB));
    expect(await reply.text()).toHaveLength(MIB);
  });

  it('sends each event before the next one and ends cleanly', async () => {
    const { exchange, reply } = await startStream();
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream']);
    for (const event of ['one', 'two', 'three']) {
      exchange.write(`data: ${event}\n\n`);
      await reply.until(`data: ${event}\n\n`);
    }
    exchange.end();
    expect(await reply.text()).toBe('data: one\n\ndata: two\n\ndata: three\n\n');
  });

  it('that the platform breaks inside an event ends with a reset', async () => {
    const { exchange, reply } = await startStream();
    exchange.write('data: one\n\ndata: tw');
    await reply.until('tw');
    exchange.reset();
    expect(await reply.ending()).toEqual({
      bytes: Buffer.from('data: one\n\ndata: tw'),
      clean: false,
      code: INTERNAL_ERROR,
    });
  });

  it.each([[[]], [['half']]])('that breaks at once sends its head, after %j', async (pieces: readonly string[]) => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield Buffer.from(piece);
      await Promise.reject(new Error('the platform broke'));
    }
    const reply = await (await visitorOf(() => Promise.resolve(answer(body())))).visit();
    expect(reply.status).toBe(200);
    expect(await reply.ending()).toEqual({
      bytes: Buffer.from(pieces.join('')),
      clean: false,
      code: INTERNAL_ERROR,
    });
  });

  it.each([
    ['', 'is not read'],
    ['{', 'is read in part'],
  ])('before the end of a body that begins with "%s" arrives whole, then the stream is reset', async (start) => {
    const visitor = await visitorOf(async ({ body }) => {
      if (start !== '') for await (const _ of body as AsyncIterable<Uint8Array>) break;
      return answer('too large'.repeat(10_000), {}, 413);
    });
    const { stream, reply } = visitor.start({ body: '{', unfinished: true });
    expect(await (await reply).text()).toBe('too large'.repeat(10_000));
    if (!stream.closed) await once(stream, 'close');
    expect(stream.rstCode).toBe(0);
    const { reply: next } = visitor.start({ body: '{', unfinished: true });
    expect((await next).status).toBe(413);
  });

  it('resets the stream when the handler throws and keeps the connection', async () => {
    let failures = 1;
    const visitor = await visitorOf(() =>
      failures-- > 0 ? Promise.reject(new Error('a bug')) : Promise.resolve(answer('well')),
    );
    await expect(visitor.visit()).rejects.toThrow('NGHTTP2_INTERNAL_ERROR');
    expect(await (await visitor.visit()).text()).toBe('well');
  });
});

describe('a secure server with allowHTTP1', () => {
  async function secureSite(listener: NodeListener): Promise<string> {
    const { serverCertificate: cert, serverKey: key } = privateAuthority();
    const server = createSecureServer({ cert, key, allowHTTP1: true }, listener);
    const url = await listen(server, 'https');
    onTestFinished(() => close(server));
    return url;
  }

  const tellsAddress = nodeListener(
    [{ mount: '/api/a2a', handler: ({ publicUrl }) => Promise.resolve(answer(publicUrl)) }],
    () => Promise.resolve(answer('')),
  );

  it('reports the address used over HTTP/2', async () => {
    const url = await secureSite(tellsAddress);
    const visitor = await arrive(url, { ca: privateAuthority().ca });
    expect(await (await visitor.visit()).text()).toBe(`${url}/api/a2a`);
  });

  it('serves HTTP/1.1 browsers', async () => {
    const url = await secureSite(tellsAddress);
    const outgoing = secureRequest(`${url}/api/a2a`, { ca: privateAuthority().ca, agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [AsyncIterable<Buffer> & { httpVersion: string }];
    let text = '';
    for await (const chunk of response) text += chunk.toString();
    expect([response.httpVersion, text]).toEqual(['1.1', `${url}/api/a2a`]);
  });
});

it('a site that closes rejects the next request over HTTP/2 and closes its session, after the open stream', async () => {
  const { world, visitor, exchange, reply } = await startStream();
  const closing = world.toolkit.close({ graceMs: 60_000 });
  const refused = await visitor.visit();
  expect([refused.status, 'connection' in refused.headers]).toEqual([503, false]);
  if (!visitor.session.closed) await once(visitor.session, 'goaway');
  exchange.end('data: last\n\n');
  expect(await reply.text()).toBe('data: last\n\n');
  await closing;
});
