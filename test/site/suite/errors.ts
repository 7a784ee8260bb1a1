import { AgentBffError } from 'agent-bff';
import { expect, it } from 'vitest';
import type { Exchange } from '../../support/recording-upstream.js';
import type { Reply } from '../../support/visitor.js';
import type { Framework } from '../framework.js';
import { ADA, type PlatformWorld, readProblem, startPlatformWorld } from '../platform-world.js';
import { readFailure, reasonOf } from '../world.js';

const WIDGET = '/api/service-surfaces/counter';
const RECORDS = '/api/service/conversations';
/** Internal names, as they appear in error messages. */
const WORDS = 'tenant-7 is not at db-main.platform.internal';
const PAGE = `<h1>${WORDS}</h1>`;
const JSON_TEXT = JSON.stringify({ error: { message: WORDS } });

const PAGES: readonly (readonly [type: string, body: string])[] = [
  ['text/html; charset=utf-8', PAGE],
  ['text/plain', WORDS],
];
const JSON_BODY = ['application/json', JSON_TEXT] as const;

const answering =
  (status: number, [type, body]: readonly [string, string], headers: Record<string, string> = {}) =>
  (exchange: Exchange): void =>
    exchange.head(status, { 'content-type': type, ...headers }).end(body);

/** The detail of the last error in the log. Checks that it has the visitor's request id. */
function told({ telemetry }: PlatformWorld, requestId: unknown): string {
  const error = telemetry.of('error').at(-1);
  expect([error?.requestId, typeof requestId]).toEqual([requestId, 'string']);
  return error?.detail ?? '';
}

/** Expects a replaced response of the chat: no text of the platform in it, all of it in the log. */
async function expectOwnWordsOnChat(world: PlatformWorld, reply: Reply, reason: string): Promise<string> {
  const failure = await readFailure(world, reply);
  expect(JSON.stringify([failure, reply.headers])).not.toMatch(/tenant-7|db-main/);
  expect([failure.id, reasonOf(failure)]).toEqual([7, reason]);
  return told(world, failure.error.data[0]?.metadata['requestId']);
}

/** The same for any other route. */
async function expectOwnWords(world: PlatformWorld, reply: Reply, code: string): Promise<string> {
  const problem = (await readProblem(world, reply)) as { code: string; requestId?: string };
  expect(JSON.stringify([problem, reply.headers])).not.toMatch(/tenant-7|db-main/);
  expect(problem.code).toBe(code);
  return told(world, problem.requestId);
}

/** Errors as a site may throw them: its own codes and statuses, and values of other types in plain JavaScript. */
const OWN: readonly (readonly [
  what: string,
  code: unknown,
  facts: object,
  expected: readonly [status: number, code: string],
])[] = [
  ['its own code', 'not_paid', {}, [500, 'not_paid']],
  ['its own code and status', 'not_paid', { upstreamStatus: 402 }, [402, 'not_paid']],
  ['its own code and status 401', 'no_seat', { upstreamStatus: 401 }, [401, 'no_seat']],
  ['a known code and status', 'session_required', { upstreamStatus: 403 }, [403, 'session_required']],
  ['a name that every object has', 'constructor', {}, [500, 'internal_error']],
  ['a status of a success', 'not_paid', { upstreamStatus: 200 }, [500, 'not_paid']],
  ['an impossible status', 'not_paid', { upstreamStatus: 1_000 }, [500, 'not_paid']],
  ['a known code and an impossible status', 'internal_error', { upstreamStatus: 42.5 }, [500, 'internal_error']],
  ['a code that no field can hold', 'no"\r\nx: y', { upstreamStatus: 401 }, [401, 'internal_error']],
  ['a hint that is not text', 'not_paid', { hint: 1n }, [500, 'internal_error']],
  ['fields that are no list', 'session_required', { fields: null, upstreamStatus: 402 }, [402, 'internal_error']],
  ['a field that is not text', 'not_paid', { fields: [1n] }, [500, 'internal_error']],
  ['a block and claims that are not text', 'not_paid', { block: 1n, claims: {} }, [500, 'internal_error']],
  [
    'a time and a status of another type',
    'not_paid',
    { retryAfterMs: 1n, upstreamStatus: 402n },
    [500, 'internal_error'],
  ],
  ['a number as its code', 42, { fields: 7, hint: 1n, block: {}, retryAfterMs: 'soon' }, [500, 'internal_error']],
];

/** The platform's own errors: the parts passed to the browser, and the parts kept in the log (decision 81). */
export function errorSuite(framework: Framework): void {
  it.each(OWN)('an error of the site with %s has its detail for the visitor, and is logged', async (...given) => {
    const [, code, facts, expected] = given;
    const auth = (): never => {
      const detail = 'The plan of this user has ended.';
      throw new AgentBffError(code as never, { detail, log: WORDS, ...facts });
    };
    const world = await startPlatformWorld(framework, { auth });
    const reply = await world.visit(RECORDS, { headers: ADA });
    const text = await reply.text();
    const problem = JSON.parse(text) as Readonly<Record<string, unknown>>;
    expect([reply.status, problem['code'], problem['status']]).toEqual([...expected, expected[0]]);
    expect(problem).toMatchObject({ detail: 'The plan of this user has ended.' });
    expect(text).not.toContain(WORDS);
    expect(told(world, problem['requestId'])).toBe(WORDS);
  });

  it('an error of the agent keeps its status, and its text appears in the log only', async () => {
    const world = await startPlatformWorld(framework);
    for (const status of [404, 500]) {
      for (const said of [...PAGES, JSON_BODY]) {
        world.upstream.willAnswer(answering(status, said, { 'retry-after': '17' }));
        const reply = await world.chat();
        expect([reply.status, reply.headers['retry-after']]).toEqual([status, '17']);
        expect(await expectOwnWordsOnChat(world, reply, 'UPSTREAM_ERROR')).toBe(
          `status ${String(status)} from the agent, ${said[0].split(';', 1)[0] ?? ''}: ${said[1]}`,
        );
      }
    }
  });

  it.each([
    ['a render', `${WIDGET}/render`, { method: 'POST', body: '{}' }],
    ['an action', `${WIDGET}/actions/add`, { method: 'POST', body: '{}' }],
    ['a theme', `${WIDGET}/theme.css`, { method: 'GET' }],
    ['a request for records', RECORDS, { method: 'GET' }],
  ])('an error response to %s is passed on if it is JSON and replaced if it is a web page', async (...row) => {
    const [, path, visit] = row;
    const world = await startPlatformWorld(framework);
    world.upstream.willAnswer(answering(404, JSON_BODY));
    const passed = await world.visit(path, { ...visit, headers: ADA });
    expect([passed.status, await passed.text(), passed.headers['content-type']]).toEqual([
      404,
      JSON_TEXT,
      JSON_BODY[0],
    ]);
    expect(world.telemetry.of('error')).toEqual([]);
    world.upstream.willAnswer(answering(500, ['text/html', PAGE]));
    const replaced = await world.visit(path, { ...visit, headers: ADA });
    expect(replaced.status).toBe(500);
    expect(await expectOwnWords(world, replaced, 'upstream_error')).toContain(WORDS);
  });

  it('an error response has no body for a HEAD or when the platform sent none', async () => {
    const world = await startPlatformWorld(framework);
    world.upstream.willAnswer(answering(404, ['text/html', PAGE]));
    const head = await world.visit(RECORDS, { method: 'HEAD', headers: ADA });
    expect([head.status, head.headers['content-type'], await head.text()]).toEqual([
      404,
      'application/problem+json',
      '',
    ]);
    world.upstream.willAnswer((exchange) => exchange.head(412, { etag: '"8"', 'content-length': '0' }).end());
    const empty = await world.visit(RECORDS, { headers: { ...ADA, 'if-match': '"7"' } });
    expect([empty.status, empty.headers.etag, await empty.text()]).toEqual([412, '"8"', '']);
  });

  it.each([
    [405, 'allow', 'GET, HEAD'],
    [416, 'content-range', 'bytes */9'],
    [429, 'retry-after', '17'],
  ])('an error response with status %i keeps its field %s', async (status, name, value) => {
    const world = await startPlatformWorld(framework);
    world.upstream.willAnswer(answering(status, ['text/html', PAGE], { [name]: value }));
    const reply = await world.visit(RECORDS, { headers: ADA });
    expect([reply.status, reply.headers[name]]).toEqual([status, value]);
    await expectOwnWords(world, reply, 'upstream_error');
  });
}
