import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { nextRoute, nextRoutes } from '../../src/adapters/next/next-route.js';
import type { HttpRequest, HttpResponse } from '../../src/ports/http.js';
import { MESSAGE } from '../support/visitor.js';

const SITE = 'https://site.example';
const CHAT = { usual: '/api/a2a' };

/** A route that returns what it received. */
function telling(rule: Parameters<typeof nextRoute>[1] = CHAT) {
  const seen: HttpRequest[] = [];
  const route = nextRoute((request) => {
    seen.push(request);
    return Promise.resolve({ status: 200, headers: {}, body: request.publicUrl });
  }, rule);
  return { seen, route };
}

const answering = (answer: Partial<HttpResponse>) =>
  nextRoute(() => Promise.resolve({ status: 200, headers: {}, body: null, ...answer }), CHAT);

const post = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(SITE + path, {
    method: 'POST',
    body: MESSAGE,
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('the mount of a Next route', () => {
  it.each([
    ['a catch-all parameter', '/api/a2a/tasks/a%2Fb?x', { path: ['tasks', 'a/b'] }, '/api/a2a', '/tasks/a%2Fb'],
    [
      'a catch-all of another name and place',
      '/de/chat/config',
      { locale: 'de', rest: ['config'] },
      '/de/chat',
      '/config',
    ],
    ['an empty catch-all', '/api/a2a', { path: undefined }, '/api/a2a', ''],
    ['a catch-all behind a base path', '/shop/api/a2a/config', { path: ['config'] }, '/shop/api/a2a', '/config'],
    ['a slash at the end', '/api/a2a/config/', { path: ['config'] }, '/api/a2a', '/config/'],
    ['its usual place', '/shop/api/a2a/config', undefined, '/shop/api/a2a', '/config'],
    [
      'its usual place, for a file of the agent card alone',
      '/api/a2a/.well-known/agent-card.json',
      {},
      '/api/a2a',
      '/.well-known/agent-card.json',
    ],
    ['the first occurrence of its usual place', '/api/a2a/api/a2a/x', undefined, '/api/a2a', '/api/a2a/x'],
    ['its whole path elsewhere', '/chat', {}, '/chat', ''],
    ['its whole path beside the usual place', '/api/a2abc', {}, '/api/a2abc', ''],
  ])('is found by %s', async (_how, path, params, mount, below) => {
    for (const given of [params, Promise.resolve(params)]) {
      const { route, seen } = telling();
      const answer = await route(post(path), params === undefined ? undefined : { params: given });
      expect(await answer.text()).toBe(SITE + mount);
      expect(seen[0]?.path).toBe(below);
    }
  });

  it.each([
    ['/api/a2a/config', '/api/a2a'],
    ['/api/a2a/config/', '/api/a2a'],
    ['/chat-settings', '/chat-settings'],
  ])('is one segment above a route for the configuration only: %s', async (path, mount) => {
    const { route, seen } = telling({ ...CHAT, fixed: '/config' });
    expect(await (await route(new Request(SITE + path))).text()).toBe(SITE + mount);
    expect(seen[0]?.path).toBe('/config');
  });

  it('has no trailing slash when Next adds one to every address', async () => {
    vi.stubEnv('__NEXT_TRAILING_SLASH', 'true');
    const { route, seen } = telling();
    await route(post('/api/a2a/poll/render/'), { params: { path: ['poll', 'render'] } });
    await route(post('/api/a2a/'));
    expect(seen.map(({ path }) => path)).toEqual(['/poll/render', '']);
  });
});

describe('several handlers of one Next route', () => {
  it.each([
    ['/api/bff/a2a/tasks/7', ['a2a', 'tasks', '7'], 'chat', '/api/bff/a2a', '/tasks/7'],
    ['/api/bff/a2a', ['a2a'], 'chat', '/api/bff/a2a', ''],
    ['/api/bff/a2abc', ['a2abc'], 'others', '/api/bff', '/a2abc'],
  ])('get the requests below their own mount: %s', async (path, caught, name, mount, below) => {
    const telling = (handler: string) => (request: HttpRequest) =>
      Promise.resolve({ status: 200, headers: {}, body: [handler, request.publicUrl, request.path].join(' ') });
    const route = nextRoutes([{ mount: '/a2a', handler: telling('chat') }], telling('others'), { usual: '/api/bff' });
    const answer = await route(post(path), { params: { path: caught } });
    expect(await answer.text()).toBe(`${name} ${SITE}${mount} ${below}`);
  });
});

describe('the public address of a Next route', () => {
  it('contains the base path once', async () => {
    vi.stubEnv('__NEXT_ROUTER_BASEPATH', '/shop');
    const { route } = telling();
    for (const path of ['/api/a2a', '/shop/api/a2a']) {
      expect(await (await route(post(path))).text()).toBe(`${SITE}/shop/api/a2a`);
    }
  });
});

describe('a Next route', () => {
  it('is exported under each method', async () => {
    const { route, seen } = telling();
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      await route[method](new Request(SITE, { method }));
    }
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
  });

  it.each([
    ['sets one', 'a=1; b=2', 'b=3; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT', 'a=1; b=3'],
    ['sets two', '', 'a=1; Path=/, b=2=2; HttpOnly', 'a=1; b=2=2'],
    ['sets two without a space', '', 'one=1; Path=/,two=2', 'one=1; two=2'],
    ['sets one for a minute', 'a=1', 'a=2; Max-Age=60', 'a=2'],
    ['sets one with other attributes', 'a=1', 'a=2; X-Max-Age=0; Max-Ages=0; X-Expires=1970; Expires-X=1970', 'a=2'],
    ['deletes one by an empty value', 'a=1; b=2', 'a=; Path=/', 'b=2'],
    ['deletes one by Max-Age', 'a=1; b=2', 'a=1; Max-Age=0', 'b=2'],
    ['deletes one by Expires', 'a=1; b=2', 'a=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT, c=3', 'b=2; c=3'],
  ])('reads the cookies as proxy.ts left them when it %s', async (_what, sent, written, cookie) => {
    const { route, seen } = telling();
    await route(new Request(SITE, { headers: { cookie: sent, 'x-middleware-set-cookie': written } }));
    expect(seen[0]?.headers).toEqual({ cookie, host: new URL(SITE).host });
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('decodes %s, which Next would send without Content-Encoding', async (coding, compress) => {
    for (const body of [compress('grüezi'), new Blob([new Uint8Array(compress('grüezi'))]).stream()]) {
      const answer = await answering({
        body,
        headers: { 'content-encoding': coding, 'content-length': '9', etag: '"1"' },
      })(post('/api/a2a'));
      expect([...answer.headers]).toEqual([['etag', '"1"']]);
      expect(await answer.text()).toBe('grüezi');
    }
  });

  it('leaves a body alone that is not coded', async () => {
    const answer = await answering({ body: 'plain', headers: { 'content-encoding': 'identity' } })(post('/api/a2a'));
    expect(await answer.text()).toBe('plain');
  });

  it('fails when the body does not match its coding', async () => {
    const half = gzipSync('grüezi').subarray(0, -4);
    const answer = await answering({ body: half, headers: { 'content-encoding': 'gzip' } })(post('/api/a2a'));
    await expect(answer.text()).rejects.toThrow();
  });

  it.each([
    ['gzip, deflate, br, zstd', 'gzip, deflate, br'],
    ['zstd;q=1, gzip;q=0.5', 'gzip;q=0.5'],
    ['zstd, *', 'identity'],
    ['xgzip, gzipped, gzip ;q=1', 'gzip ;q=1'],
  ])('accepts only codings it can decode: %s becomes %s', async (accepted, asked) => {
    const { route, seen } = telling();
    await route(post('/api/a2a', { 'accept-encoding': accepted }));
    expect(seen[0]?.headers['accept-encoding']?.toString().trim()).toBe(asked);
  });

  it('fails on a coding it cannot decode', async () => {
    const response = await answering({ body: 'x', headers: { 'content-encoding': 'zstd' } })(post('/api/a2a'));
    await expect(response.text()).rejects.toThrow('no decoder for the content coding "zstd"');
  });
});
