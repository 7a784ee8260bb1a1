import { describe, expect, it } from 'vitest';
import type { VisitOptions } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { ownerSuite } from './owners.js';
import { ADA, readProblem, sentPaths, startPlatformWorld } from '../platform-world.js';

const MOUNT = '/api/service-surfaces';
const post = (body: unknown = {}, headers: VisitOptions['headers'] = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers,
});

/** Fields of the platform that must not reach the browser. */
const PRIVATE = {
  'set-cookie': ['platform=1', 'other=2'],
  'www-authenticate': 'Bearer realm="platform"',
  server: 'Platform/1.0',
  location: 'https://platform.example/',
  'access-control-allow-origin': '*',
};

/** The widget routes: render, action and theme. */
export function surfaceSuite(framework: Framework): void {
  ownerSuite(framework);

  describe('a widget', () => {
    it.each([
      ['/counter/render', '/surfaces/counter/render'],
      ['/by-name/my%20list/render', '/surfaces/by-name/my%20list/render'],
    ])('is rendered at %s', async (path, target) => {
      const world = await startPlatformWorld(framework);
      const reply = { surface: { id: 'counter', name: 'my list', version: 3 }, content: '<p>grüezi €</p>' };
      const fields = { etag: '"3"', 'content-language': 'de', 'x-surface-version': '3' };
      world.upstream.willAnswer((exchange) => {
        exchange.json(200, reply, { ...fields, ...PRIVATE });
      });
      const answer = await world.visit(MOUNT + path, post({ page: 1 }, { ...ADA, authorization: 'Bearer of-mine' }));
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual(reply);
      expect(answer.headers).toMatchObject({
        ...fields,
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-cache': expect.stringMatching(/^(?:MISS|BYPASS)$/) as string,
      });
      for (const name of Object.keys(PRIVATE)) expect(answer.headers, name).not.toHaveProperty(name);
      expect(sentPaths(world)).toEqual([target]);
      const [request] = world.upstream.requests;
      expect(request?.method).toBe('POST');
      expect(JSON.parse(request?.body.toString() ?? '')).toEqual({ page: 1 });
      expect(request?.fields).toContainEqual(['x-api-key', 'the-api-key']);
      expect(JSON.stringify(request?.fields)).not.toMatch(/cookie|of-mine/);
    });

    it('is rendered with the bytes that the browser sent', async () => {
      const world = await startPlatformWorld(framework);
      const body = '{ "text":"\\u00e9 €",\n"n":1.50, "list":[ ] }';
      expect((await world.visit(`${MOUNT}/counter/render`, { method: 'POST', body })).status).toBe(200);
      const sent = world.upstream.requests[0]?.body.toString() ?? '';
      if (framework.parsesJson) expect(JSON.parse(sent)).toEqual(JSON.parse(body));
      else expect(sent).toBe(body);
    });

    it('forwards an action with its idempotency key, and returns the platform’s rejection', async () => {
      const world = await startPlatformWorld(framework);
      const refusal = { error: { code: 'too_many', message: 'Ten at most.', fields: ['by'] } };
      world.upstream.willAnswer((exchange) => {
        exchange.json(422, refusal, PRIVATE);
      });
      const visit = post({ by: 11 }, { 'idempotency-key': 'once' });
      const answer = await world.visit(`${MOUNT}/counter/actions/add?dry=1&dry=%2F`, visit);
      expect([answer.status, await answer.json()]).toEqual([422, refusal]);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers).not.toHaveProperty('set-cookie');
      expect(sentPaths(world)).toEqual(['/surfaces/counter/actions/add?dry=1&dry=%2F']);
      expect(world.upstream.requests[0]?.fields).toContainEqual(['idempotency-key', 'once']);
    });

    it('refuses to render for a page of another site', async () => {
      const world = await startPlatformWorld(framework);
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
        const answer = await world.visit(`${MOUNT}/counter/render`, post({}, headers));
        expect([answer.status, (await readProblem(world, answer)).code]).toEqual([403, 'origin_refused']);
      }
      expect(world.upstream.requests).toEqual([]);
    });

    it('refuses to render under an unknown host', async () => {
      const world = await startPlatformWorld(framework, { allowedHosts: ['site.example'] });
      expect((await world.visit(`${MOUNT}/counter/render`, post({}, { host: 'site.example' }))).status).toBe(200);
      const before = world.upstream.requests.length;
      const answer = await world.visit(`${MOUNT}/counter/render`, post({}, { host: 'evil.example' }));
      expect([answer.status, (await readProblem(world, answer)).code]).toEqual([421, 'host_refused']);
      expect(world.upstream.requests.length).toBe(before);
    });

    it('refuses to render from a body or a type that is not JSON', async () => {
      const world = await startPlatformWorld(framework);
      const render = { method: 'POST', body: '{"half":' };
      expect((await world.visit(`${MOUNT}/counter/render`, render)).status).toBe(400);
      const form = { method: 'POST', body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
      expect((await world.visit(`${MOUNT}/counter/render`, form)).status).toBe(400);
      expect(world.upstream.requests).toEqual([]);
    });

    it.each([
      ['GET', '/counter/render', 'POST'],
      ['DELETE', '/counter/actions/add', 'POST'],
      ['PUT', '/by-name/counter/actions/add', 'POST'],
      ['OPTIONS', '/counter/render', 'POST'],
      ['POST', '/counter/theme.css', 'GET, HEAD'],
      ['DELETE', '/by-name/counter/theme.css', 'GET, HEAD'],
    ])('responds 405 with Allow to a %s of %s', async (method, path, allow) => {
      const world = await startPlatformWorld(framework);
      const answer = await world.visit(MOUNT + path, { method });
      expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
      expect((await readProblem(world, answer)).code).toBe('method_not_allowed');
      expect(world.upstream.requests).toEqual([]);
    });
  });

  describe('the theme of a widget', () => {
    const css = { 'content-type': 'text/css', etag: '"t1"', ...PRIVATE };
    /** The platform's tag, and the version of the rules that checked the theme. */
    const TAG = expect.stringMatching(/^"t1\.[0-9a-f]{8}"$/) as string;

    it('is a style sheet that browsers must revalidate', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer((exchange) => exchange.head(200, css).end('a{content:"€"}'));
      const answer = await world.visit(`${MOUNT}/by-name/counter/theme.css?v=1`);
      expect([answer.status, await answer.text()]).toEqual([200, 'a{content:"€"}']);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/css; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
        etag: TAG,
      });
      for (const name of Object.keys(PRIVATE)) expect(answer.headers, name).not.toHaveProperty(name);
      expect(sentPaths(world)).toEqual(['/surfaces/by-name/counter/theme.css?v=1']);
    });

    it('gets a 304 for a browser that has it', async () => {
      const world = await startPlatformWorld(framework);
      const asked: unknown[] = [];
      world.upstream.willAnswer((exchange) => {
        asked.push(exchange.values('if-none-match'));
        const has = exchange.values('if-none-match').includes('"t1"');
        exchange.head(has ? 304 : 200, css).end(has ? '' : 'a{}');
      });
      const { etag } = (await world.visit(`${MOUNT}/counter/theme.css`)).headers;
      const answer = await world.visit(`${MOUNT}/counter/theme.css`, { headers: { 'if-none-match': etag ?? '' } });
      expect([answer.status, answer.headers.etag, await answer.text()]).toEqual([304, etag, '']);
      expect(asked).toEqual([[], ['"t1"']]);
      expect(answer.headers).not.toHaveProperty('content-type');
      expect(answer.headers).not.toHaveProperty('set-cookie');
    });

    it('has no body for a HEAD', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer((exchange) => exchange.head(200, css).end('a{}'));
      const answer = await world.visit(`${MOUNT}/counter/theme.css`, { method: 'HEAD' });
      expect([answer.status, answer.headers.etag, await answer.text()]).toEqual([200, TAG, '']);
    });
  });
}
