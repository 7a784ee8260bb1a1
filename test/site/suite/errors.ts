import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../support/recording-upstream.js';
import type { Reply } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { ADA, type PlatformWorld, readProblem, startPlatformWorld } from '../platform-world.js';
import { readFailure, reasonOf } from '../world.js';

const WIDGET = '/api/service-surfaces/counter';
const RECORDS = '/api/service/conversations';
/** Names of what lies behind the site, as error messages are full of. */
const WORDS = 'tenant-7 is not at db-3.platform.internal';
const PAGE = `<h1>${WORDS}</h1>`;
const JSON_TEXT = JSON.stringify({ error: { message: WORDS } });

const PAGES: readonly (readonly [type: string, body: string])[] = [
  ['text/html; charset=utf-8', PAGE],
  ['text/plain', WORDS],
];
const JSON_BODY = ['application/json', JSON_TEXT] as const;
const REFUSALS = [400, 403, 404, 422] as const;

const answering =
  (status: number, [type, body]: readonly [string, string], headers: Record<string, string> = {}) =>
  (exchange: Exchange): void =>
    exchange.head(status, { 'content-type': type, ...headers }).end(body);

/** What operators read of the last error, which is under the name the visitor knows. */
function told({ telemetry }: PlatformWorld, requestId: unknown): string {
  const error = telemetry.of('error').at(-1);
  expect([error?.requestId, typeof requestId]).toEqual([requestId, 'string']);
  return error?.detail ?? '';
}

/** A replaced response of the chat: nothing of the platform's is in it, and all of it is in the log. */
async function expectOwnWordsOnChat(world: PlatformWorld, reply: Reply, reason: string): Promise<string> {
  const failure = await readFailure(world, reply);
  expect(JSON.stringify([failure, reply.headers])).not.toMatch(/tenant-7|db-3/);
  expect([failure.id, reasonOf(failure)]).toEqual([7, reason]);
  return told(world, failure.error.data[0]?.metadata['requestId']);
}

/** The same of any other route. */
async function expectOwnWords(world: PlatformWorld, reply: Reply, code: string): Promise<string> {
  const problem = (await readProblem(world, reply)) as { code: string; requestId?: string };
  expect(JSON.stringify([problem, reply.headers])).not.toMatch(/tenant-7|db-3/);
  expect(problem.code).toBe(code);
  return told(world, problem.requestId);
}

/** The platform's own errors: which of its words the browser may read, and where the others are (decision 81). */
export function errorSuite(framework: Framework): void {
  describe('an error the agent answers a message with', () => {
    it.each([...REFUSALS, 429, 500])('%i keeps its status, and what it says is in the log alone', async (status) => {
      const world = await startPlatformWorld(framework);
      for (const said of [...PAGES, JSON_BODY]) {
        world.upstream.willAnswer(answering(status, said, { 'retry-after': '17' }));
        const reply = await world.chat();
        expect(reply.status).toBe(status);
        expect(reply.headers['retry-after']).toBe(status === 403 ? undefined : '17');
        const reason = status === 403 ? 'SERVICE_TOKEN_REJECTED' : 'UPSTREAM_ERROR';
        expect(await expectOwnWordsOnChat(world, reply, reason)).toBe(
          `status ${String(status)} from the agent, ${said[0].split(';', 1)[0] ?? ''}: ${said[1]}`,
        );
      }
    });

    it.each([...REFUSALS, 401, 500])('%i passes as it is where it is JSON-RPC', async (status) => {
      const world = await startPlatformWorld(framework);
      const error = { jsonrpc: '2.0', id: 7, error: { code: -32001, message: `Task ${WORDS}` } };
      world.upstream.willAnswer((exchange) => exchange.json(status, error));
      const reply = await world.chat();
      expect([reply.status, await reply.json()]).toEqual([status, error]);
      expect(world.telemetry.of('error')).toEqual([]);
      // Whose credential it is about is nothing the visitor can know.
      const refused = world.telemetry.of('warning').filter(({ code }) => code === 'credential_refused');
      expect(refused).toHaveLength(status === 401 || status === 403 ? 1 : 0);
      for (const { detail } of refused) expect(detail).toContain(WORDS);
    });

    it('because it refuses the credential is told to operators in its words', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer((exchange) => exchange.json(401, { error: WORDS }));
      expect(await expectOwnWordsOnChat(world, await world.chat(), 'SERVICE_TOKEN_REJECTED')).toContain(WORDS);
    });

    it('is one line in the log, of at most 2 KB, and without secrets', async () => {
      const world = await startPlatformWorld(framework);
      const secrets = 'visitor-service-token-1, the-api-key, eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln';
      const body = `no\r\n2026-11-21 ERROR forged\u001b[2J\n${secrets}\n${'and so on '.repeat(2_000)}`;
      world.upstream.willAnswer(answering(502, ['text/plain', body]));
      const detail = await expectOwnWordsOnChat(world, await world.chat(), 'UPSTREAM_ERROR');
      expect(detail).toContain(
        'text/plain: no 2026-11-21 ERROR forged [2J [redacted], [redacted], [redacted] and so on',
      );
      expect(detail).toHaveLength(2_048);
    });
  });

  describe('an error the platform answers a widget with', () => {
    const visits = [
      ['a render', `${WIDGET}/render`, { method: 'POST', body: '{}' }],
      ['an action', `${WIDGET}/actions/add`, { method: 'POST', body: '{}' }],
      ['a theme', `${WIDGET}/theme.css`, { method: 'GET' }],
    ] as const;

    it.each(visits)('passes to %s where it is JSON below 500', async (_what, path, visit) => {
      const world = await startPlatformWorld(framework);
      for (const status of [...REFUSALS, 401]) {
        for (const type of ['application/json', 'application/problem+json']) {
          world.upstream.willAnswer(answering(status, [type, JSON_TEXT]));
          const reply = await world.visit(path, { ...visit, headers: ADA });
          expect([reply.status, await reply.text(), reply.headers['content-type']]).toEqual([status, JSON_TEXT, type]);
        }
      }
      expect(world.telemetry.of('error')).toEqual([]);
    });

    it.each(visits)('is ours to %s where it is a page, a text or a failure', async (_what, path, visit) => {
      const world = await startPlatformWorld(framework);
      const answers = [...REFUSALS, 401, 500].flatMap((status) => PAGES.map((said) => [status, said] as const));
      for (const [status, said] of [...answers, [500, JSON_BODY] as const]) {
        world.upstream.willAnswer(answering(status, said));
        const reply = await world.visit(path, { ...visit, headers: ADA });
        expect(reply.status).toBe(status);
        expect(await expectOwnWords(world, reply, 'upstream_error')).toContain(WORDS);
      }
    });

    it.each(visits)('is ours to %s where it is about the API key, JSON or not', async (_what, path, visit) => {
      const world = await startPlatformWorld(framework);
      for (const status of [401, 403]) {
        for (const said of [...PAGES, JSON_BODY]) {
          world.upstream.willAnswer(answering(status, said));
          const reply = await world.visit(path, visit);
          expect(reply.status).toBe(status);
          expect(await expectOwnWords(world, reply, 'service_token_rejected')).toContain(WORDS);
        }
      }
    });
  });

  describe('an error the platform answers a request for records with', () => {
    it('passes where it is JSON below 500, as it comes', async () => {
      const world = await startPlatformWorld(framework);
      for (const status of [...REFUSALS, 401]) {
        world.upstream.willWait();
        const pending = world.visit(RECORDS, { headers: ADA });
        const exchange = await world.upstream.next();
        exchange.head(status, { 'content-type': 'application/json' }).write('{"error":');
        const reply = await pending;
        expect(reply.status).toBe(status);
        await reply.until('{"error":');
        exchange.end('"no"}');
        expect(await reply.json()).toEqual({ error: 'no' });
      }
    });

    it('is ours where it is a page, a text or a failure', async () => {
      const world = await startPlatformWorld(framework);
      const answers = [...REFUSALS, 401, 500].flatMap((status) => PAGES.map((said) => [status, said] as const));
      for (const [status, said] of [...answers, [500, JSON_BODY] as const]) {
        world.upstream.willAnswer(answering(status, said));
        const reply = await world.visit(RECORDS, { headers: ADA });
        expect(reply.status).toBe(status);
        expect(await expectOwnWords(world, reply, 'upstream_error')).toContain(WORDS);
      }
    });

    it('has no body of ours where it has none and says nothing of one', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer((exchange) => exchange.head(412, { etag: '"8"', 'content-length': '0' }).end());
      const reply = await world.visit(RECORDS, { headers: { ...ADA, 'if-match': '"7"' } });
      expect([reply.status, reply.headers.etag, await reply.text()]).toEqual([412, '"8"', '']);
    });

    it('to HEAD has no body, and is ours all the same', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer(answering(404, PAGES[0] ?? ['', '']));
      const reply = await world.visit(RECORDS, { method: 'HEAD', headers: ADA });
      expect([reply.status, reply.headers['content-type'], await reply.text()]).toEqual([
        404,
        'application/problem+json',
        '',
      ]);
    });

    it.each([
      [405, 'allow', 'GET, HEAD'],
      [416, 'content-range', 'bytes */9'],
      [429, 'retry-after', '17'],
    ])('(%i) keeps what it is incomplete without: %s', async (status, name, value) => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer(answering(status, ['text/html', PAGE], { [name]: value }));
      const reply = await world.visit(RECORDS, { headers: ADA });
      expect([reply.status, reply.headers[name]]).toEqual([status, value]);
      await expectOwnWords(world, reply, 'upstream_error');
    });
  });

  describe('a look-up of the chat configuration that fails', () => {
    it('tells operators what each address said of the card, and the visitor nothing of it', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer(answering(404, ['text/html', PAGE]));
      const reply = await world.visit('/api/a2a/config');
      expect(reply.status).toBe(502);
      const detail = await expectOwnWords(world, reply, 'upstream_invalid_response');
      expect(detail.split('; ')).toHaveLength(4);
      expect(detail).toContain(`/agent/v1/.well-known/agent-card.json: status 404, text/html: ${PAGE}; /`);
    });

    it('tells operators what was said of project and brand, and the visitor that there are none', async () => {
      const world = await startPlatformWorld(framework);
      world.upstream.willAnswer((exchange) => {
        const isCard = exchange.request.target.includes('.well-known');
        if (isCard) exchange.json(200, { name: 'Agent', url: `${world.upstream.origin}/agent/v1` });
        else exchange.json(500, { error: WORDS });
      });
      const text = await (await world.visit('/api/a2a/config')).text();
      expect(JSON.parse(text)).toMatchObject({ warnings: ['project_unavailable', 'brand_unavailable'] });
      expect(text).not.toMatch(/tenant-7|db-3/);
      const [request] = world.telemetry.of('request');
      const summary = 'The platform reported an error of its own.';
      const detail = `${summary} status 500 from the platform, application/json: {"error":"${WORDS}"}`;
      const { requestId } = request ?? {};
      expect(world.telemetry.of('warning')).toEqual([
        { type: 'warning', requestId, code: 'project_unavailable', detail, summary },
        { type: 'warning', requestId, code: 'brand_unavailable', detail, summary },
      ]);
    });
  });
}
