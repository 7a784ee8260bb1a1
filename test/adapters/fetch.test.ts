import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fetchHandler, toResponse } from '../../src/adapters/fetch/fetch-handler.js';
import { FetchRequest, requestAddress } from '../../src/adapters/fetch/request.js';
import type { HttpBody, HttpRequest, HttpResponse } from '../../src/ports/http.js';

const MOUNT = '/api/a2a';
const SITE = 'https://site.example';

const text = (body: HttpBody, headers: HttpResponse['headers'] = {}, status = 200): HttpResponse => ({
  status,
  headers,
  body,
});

const read = (request: Request, mount = MOUNT) => {
  const address = requestAddress(request.url);
  return new FetchRequest(request, address, { mount, path: address.path.slice(mount.length) });
};

/** A response as a browser gets it. */
const sent = (answer: HttpResponse, init: RequestInit = {}): Promise<Response> =>
  toResponse(answer, read(new Request(SITE + MOUNT, init)));

/** A body whose chunks come from the test, and which records what happens to it. */
class WatchedBody implements AsyncIterableIterator<Uint8Array> {
  asked = 0;
  returned = false;
  readonly #answers: (() => Promise<IteratorResult<Uint8Array>>)[];

  constructor(...answers: (string | Error)[]) {
    this.#answers = answers.map(
      (answer) => () =>
        answer instanceof Error
          ? Promise.reject(answer)
          : Promise.resolve({ done: false, value: new TextEncoder().encode(answer) }),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    this.asked += 1;
    return this.#answers.shift()?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.returned = true;
    return Promise.resolve({ done: true, value: undefined });
  }
}

/** A stream reads ahead in its own turns of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a Web request', () => {
  it('has the signal of its browser', () => {
    const request = new Request(SITE);
    expect(read(request, '').signal).toBe(request.signal);
  });

  it('has its method in upper case', () => {
    expect(read(new Request(SITE, { method: 'patch' }), '').method).toBe('PATCH');
  });

  it.each([
    [
      'http://user:secret@site.example:8080/a?b',
      { scheme: 'http:', host: 'site.example:8080', path: '/a', query: '?b' },
    ],
    ['https://[::1]:3000', { scheme: 'https:', host: '[::1]:3000', path: '/', query: '' }],
    ['https://site.example/a?#b', { scheme: 'https:', host: 'site.example', path: '/a', query: '' }],
    ['https://site.example/a?', { scheme: 'https:', host: 'site.example', path: '/a', query: '?' }],
    ['https://site.example?x@y', { scheme: 'https:', host: 'site.example', path: '/', query: '?x@y' }],
  ])('splits its address into four parts: %s', (url, address) => {
    expect(requestAddress(url)).toEqual(address);
  });

  it('ignores forwarded fields in its public address', () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    expect(read(new Request(`${SITE}${MOUNT}/config`, { headers })).publicUrl).toBe(SITE + MOUNT);
    const behind = { ...headers, host: 'shop.example:8443' };
    expect(read(new Request(SITE + MOUNT, { headers: behind })).publicUrl).toBe(`https://shop.example:8443${MOUNT}`);
  });

  it('has lower-case field names', () => {
    const { headers } = read(new Request(SITE, { headers: { 'X-One': '1', Cookie: 'a=1; b=2' } }), '');
    expect(headers).toEqual({ 'x-one': '1', cookie: 'a=1; b=2', host: 'site.example' });
  });

  it.each([
    ['GET', new Request(SITE)],
    ['POST with Content-Length 0', new Request(SITE, { method: 'POST', body: '', headers: { 'content-length': '0' } })],
  ])('has no body: %s', (_what, request) => {
    const { body, bodyConsumed } = read(request, '');
    expect([body, bodyConsumed]).toEqual([null, false]);
  });

  it.each<[string, (request: Request) => unknown]>([
    ['read', (request) => request.text()],
    ['being read', (request) => request.body?.getReader()],
  ])('reports a consumed body: %s', async (_what, take) => {
    const request = new Request(SITE, { method: 'POST', body: '{}' });
    await Promise.resolve(take(request));
    const { body, bodyConsumed } = read(request, '');
    expect([body, bodyConsumed]).toEqual([null, true]);
  });
});

describe('the body of a Web request', () => {
  /** A request whose body counts how often it is read, and whether it is cancelled. */
  function uploading(chunks: readonly string[], breaks = false) {
    const seen = { pulls: 0, isCancelled: false };
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          const chunk = chunks[seen.pulls];
          seen.pulls += 1;
          if (chunk !== undefined) controller.enqueue(new TextEncoder().encode(chunk));
          else if (breaks) controller.error(new Error('it left'));
          else controller.close();
        },
        cancel: () => void (seen.isCancelled = true),
      },
      { highWaterMark: 0 },
    );
    const request = new Request(SITE, { method: 'POST', body, duplex: 'half' } as RequestInit);
    return { seen, body: read(request, '').body as AsyncIterable<Uint8Array> };
  }

  it('is read as a stream', async () => {
    const { body } = uploading(['grü', 'ezi']);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('grüezi');
  });

  it.each([false, true])('is drained and not cancelled when a route stops early; breaks: %s', async (breaks) => {
    const { seen, body } = uploading(['one', 'two', 'three'], breaks);
    const steps = body[Symbol.asyncIterator]();
    await steps.next();
    expect(await steps.return?.()).toEqual({ done: true, value: undefined });
    await turn();
    expect(seen).toEqual({ pulls: 4, isCancelled: false });
  });
});

describe('a Web response', () => {
  it.each<[string, HttpBody]>([
    ['text', 'grüezi'],
    ['bytes', Buffer.from('grüezi')],
    ['a stream', new WatchedBody('grü', 'ezi')],
    ['a Web stream', new Blob(['grü', 'ezi']).stream()],
    ['nothing', null],
  ])('has a body of %s and no other fields', async (_kind, body) => {
    const response = await sent(text(body, { 'x-one': '1' }, 201));
    expect(response.status).toBe(201);
    expect([...response.headers]).toEqual([['x-one', '1']]);
    expect(await response.text()).toBe(body === null ? '' : 'grüezi');
  });

  it('keeps cookies apart and joins other repeated fields', async () => {
    const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'];
    const { headers } = await sent(text('', { 'set-cookie': cookies, vary: ['a', 'b'], gone: undefined }));
    expect(headers.getSetCookie()).toEqual(cookies);
    expect(headers.get('vary')).toBe('a, b');
    expect(headers.has('gone')).toBe(false);
  });

  it('includes fields that a session library wrote before it, and marks them as sent', async () => {
    const request = read(new Request(SITE + MOUNT));
    const { response: written } = request.native;
    written
      .setHeader('Cache-Control', 'private')
      .setHeader('x-left', 8)
      .setHeader('x-left', 7)
      .appendHeader('set-cookie', 'session=1')
      .appendHeader('x-lib', ['1']);
    expect(written.getHeader('set-cookie')).toEqual(['session=1']);
    expect([written.getHeader('x-lib'), written.getHeader('x-none')]).toEqual(['1', undefined]);
    expect(written.headersSent).toBe(false);
    const answer = text('', { 'cache-control': 'no-store', 'set-cookie': 'b=2' });
    const { headers } = await toResponse(answer, request);
    expect(written.headersSent).toBe(true);
    expect(headers.getSetCookie()).toEqual(['session=1', 'b=2']);
    expect(['cache-control', 'x-lib', 'x-left'].map((name) => headers.get(name))).toEqual(['no-store', '1', '7']);
  });

  it.each([204, 205, 304])('of status %i has no body and releases the one given', async (status) => {
    const body = new WatchedBody('x');
    const response = await sent(text(body, { etag: '"1"' }, status));
    expect([response.status, response.body, response.headers.get('etag')]).toEqual([status, null, '"1"']);
    expect([body.asked, body.returned]).toEqual([0, true]);
  });

  it('to a HEAD has its fields only and releases its body', async () => {
    const body = new WatchedBody('x');
    const response = await sent(text(body, { 'content-length': '1' }), { method: 'HEAD' });
    expect([response.body, response.headers.get('content-length')]).toEqual([null, '1']);
    expect([body.asked, body.returned]).toEqual([0, true]);
  });
});

describe('a Web response with a streaming body', () => {
  const readerOf = async (body: WatchedBody): Promise<ReadableStreamDefaultReader<Uint8Array>> => {
    const reader = (await sent(text(body))).body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    // Servers keep the head back until the first chunk.
    expect(await reader.read()).toEqual({ done: false, value: new Uint8Array(0) });
    return reader;
  };
  const step = (chunk: string) => ({ done: false, value: new TextEncoder().encode(chunk) });

  it('sends its head at once and reads a chunk only on demand', async () => {
    const body = new WatchedBody('one', 'two');
    const reader = await readerOf(body);
    await turn();
    expect(body.asked).toBe(0);
    expect(await reader.read()).toEqual(step('one'));
    await turn();
    expect(body.asked).toBe(1);
    expect(await reader.read()).toEqual(step('two'));
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  it('answers parallel reads in order', async () => {
    const reader = await readerOf(new WatchedBody('one', 'two', 'three'));
    const steps = await Promise.all([reader.read(), reader.read(), reader.read(), reader.read()]);
    expect(steps).toEqual([step('one'), step('two'), step('three'), { done: true, value: undefined }]);
  });

  it('releases its body when the browser leaves while waiting', async () => {
    const body = new WatchedBody('one');
    body.next = () => new Promise(() => undefined);
    const reader = await readerOf(body);
    void reader.read().catch(() => undefined);
    await reader.cancel();
    expect(body.returned).toBe(true);
  });

  it('releases its body when the browser leaves before reading', async () => {
    const body = new WatchedBody('one');
    const reader = await readerOf(body);
    await reader.cancel();
    expect([body.asked, body.returned]).toEqual([0, true]);
  });
});

describe('a streaming Web response', () => {
  const timed = async (body: WatchedBody, sendIdleMs: number) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const response = await sent({ ...text(body), sendIdleMs });
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    await reader.read();
    return reader;
  };

  it('is cut, and its body cancelled, when the browser requests no chunk for the configured time', async () => {
    const body = new WatchedBody('one', 'two');
    const reader = await timed(body, 400);
    await reader.read();
    vi.advanceTimersByTime(399);
    await turn();
    expect(body.returned).toBe(false);
    vi.advanceTimersByTime(401);
    await expect(reader.read()).rejects.toThrow('the browser accepted no data: see "timeouts.sendIdleMs"');
    expect(body.returned).toBe(true);
  });

  it.each([
    ['requests a chunk in time', 400],
    ['has no limit', 0],
  ])('is not cut when its browser %s', async (_what, sendIdleMs) => {
    const reader = await timed(new WatchedBody(...Array<string>(9).fill('x')), sendIdleMs);
    for (let chunk = 0; chunk < 9; chunk += 1) {
      expect(await reader.read()).toMatchObject({ done: false });
      vi.advanceTimersByTime(300);
    }
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  it('is not cut while the platform sends nothing', async () => {
    const body = new WatchedBody();
    body.next = () => new Promise(() => undefined);
    const reader = await timed(body, 400);
    void reader.read();
    vi.advanceTimersByTime(4_000);
    await turn();
    expect(body.returned).toBe(false);
  });

  it('breaks when its body breaks', async () => {
    const reader = await timed(new WatchedBody('one', new Error('reset')), 400);
    expect(await reader.read()).toMatchObject({ done: false });
    await expect(reader.read()).rejects.toThrow('reset');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('routes of Web requests', () => {
  it('match below their mount only', async () => {
    const seen: HttpRequest[] = [];
    const handle = fetchHandler(
      [
        {
          mount: MOUNT,
          handler: (request) => {
            seen.push(request);
            return Promise.resolve(text('route'));
          },
        },
      ],
      (request) => Promise.resolve(text(`otherwise ${request.path}`)),
    );
    const answers = ['/api/a2a', '/api/a2a/x', '/api/a2abc', '/api', '/API/a2a', '/api/a2a/%2e%2e/b'].map(
      async (path) => (await handle(new Request(SITE + path))).text(),
    );
    expect(await Promise.all(answers)).toEqual([
      'route',
      'route',
      'otherwise /api/a2abc',
      'otherwise /api',
      'otherwise /API/a2a',
      'otherwise /api/b',
    ]);
    expect(seen.map(({ path }) => path)).toEqual(['', '/x']);
  });

  it.each([
    ["Node's request", { url: '/api/a2a', headers: { get: 'x' } }],
    ["Hono's request", { url: `${SITE}/api/a2a`, raw: {} }],
    ["Hono's context", { req: {} }],
    ['nothing', undefined],
  ])('name the right object when passed %s', async (_what, request) => {
    const handle = fetchHandler([], () => Promise.resolve(text('')));
    await expect(handle(request as never)).rejects.toThrow(
      "Pass a web Request, such as c.req.raw in Hono. For Node's request use agent-bff/node.",
    );
  });
});
