import { describe, expect, it, vi } from 'vitest';
import { FakeSessionTokenSource } from '../../../src/adapters/fakes/fakes.js';
import type { HttpBody, HttpResponse } from '../../../src/ports/http.js';
import { errorOf } from '../../support/error-of.js';
import { RequestError } from '../../../src/domain/shared/errors.js';
import { Caller } from '../../../src/domain/upstream/platform-call.js';
import { readRestCall } from '../../../src/domain/chat/call.js';
import { restPath, type RestPath } from '../../../src/domain/chat/rest-paths.js';
import { AGENT } from '../../../src/domain/upstream/platform-error.js';
import { REQUEST, SERVICE, sessionPlan } from '../credentials/broker-fixture.js';
import { json, type Person, VisitedWorld } from './visited-world.js';

const MIB = 1_048_576;
const UNKNOWN = 'conversation_unknown';

/** Both bindings, each with a message that has this task as its result. */
const BINDINGS: readonly (readonly [
  name: string,
  read: (person: Person) => Promise<unknown>,
  of: (task: object) => object,
])[] = [
  ['JSON-RPC', (person) => person.call('GetTask', { id: 'task-1' }), (result) => ({ jsonrpc: '2.0', id: 1, result })],
  ['HTTP+JSON', (person) => person.rest('GET', '/tasks/task-1'), (task) => task],
];

/** A response in JSON with this body. */
function body(content: HttpBody, status = 200): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: content };
}

/** A JSON text of this many bytes, in two chunks; a lone chunk would be read before it is counted. */
async function* padded(value: object, bytes: number): AsyncGenerator<Uint8Array> {
  const text = new TextEncoder().encode(JSON.stringify(value));
  yield text;
  yield new Uint8Array(bytes - text.length).fill(0x20);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('{"id":');
  throw new Error('the connection broke');
}

describe.each(BINDINGS)('a look-up of a task in %s', (binding, read, of) => {
  it.each<[string, () => HttpResponse, object]>([
    ['an error of the protocol', () => json(200, { error: {} }), { code: UNKNOWN }],
    ['such an error with status 400', () => json(400, { error: { code: -32001 } }), { code: UNKNOWN }],
    ['a page without the task', () => json(200, []), { code: 'upstream_invalid_response' }],
    ['no JSON', () => body('task-1'), { code: 'upstream_invalid_response' }],
    [
      'more than 20,000 values',
      () => json(200, of({ id: 'task-1', contextId: 'x', history: Array.from({ length: 20_000 }, () => 0) })),
      { code: 'upstream_invalid_response' },
    ],
    ['a body that breaks', () => body(broken()), { code: 'upstream_invalid_response' }],
    ['a redirect', () => ({ status: 302, headers: { location: '/in' }, body: null }), { code: 'upstream_redirect' }],
    ['status 400', () => json(400, {}), { code: 'upstream_error', upstreamStatus: 400 }],
    ['status 403', () => json(403, { error: {} }), { code: 'service_token_rejected', upstreamStatus: 403 }],
    ['status 429', () => json(429, { error: {} }), { code: 'upstream_error', upstreamStatus: 429, retryable: true }],
    ['status 500', () => json(500, { error: {} }), { code: 'upstream_error', upstreamStatus: 500 }],
    ['status 503', () => json(503, { error: {} }), { code: 'upstream_error', upstreamStatus: 503, retryable: true }],
    [
      'status 404',
      () => json(404, {}),
      binding === 'JSON-RPC' ? { code: 'upstream_error', upstreamStatus: 404 } : { code: UNKNOWN },
    ],
    [
      'status 404 and a body that breaks',
      () => body(broken(), 404),
      binding === 'JSON-RPC' ? { code: 'upstream_error', upstreamStatus: 404 } : { code: UNKNOWN },
    ],
    [
      'status 300 and above, whatever the body contains',
      () => json(418, of({ id: 'task-1', contextId: 'x' })),
      { code: 'upstream_error', upstreamStatus: 418 },
    ],
    [
      'more than 4 MiB',
      () => body(padded(of({ id: 'task-1', contextId: 'x' }), 4 * MIB + 1)),
      { code: 'upstream_invalid_response' },
    ],
  ])('fails with %s', async (_what, response, error) => {
    const world = new VisitedWorld();
    const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
    world.lookup = response;
    expect(await errorOf(read(ada))).toMatchObject(error);
    expect(world.calls).toHaveLength(1);
  });

  it('quotes the text of a failure in the log', async () => {
    const world = new VisitedWorld();
    world.lookup = () => json(400, { message: 'no such index' });
    const error = await errorOf(read(world.visitor('ada')));
    expect(error.logDetail()).toContain('no such index');
  });
});

it('a task of 4 MiB is read, and its memory counts while it is', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
  world.lookup = () => body(padded({ result: { id: 'task-1', contextId: 'x' } }, 4 * MIB));
  await ada.call('GetTask', { id: 'task-1' });
  expect(world.calls).toHaveLength(2);
  expect([world.bodies.most, world.bodies.used]).toEqual([4 * MIB, 0]);
});

it('a task for which there is no memory is not read', async () => {
  const world = new VisitedWorld();
  world.bodies.hold = () => {
    throw new RequestError('server_busy', { detail: 'The server holds too many request bodies.' });
  };
  world.visitor('ada').begun();
  expect(await errorOf(world.visitor('ada').call('GetTask', { id: 'task-1' }))).toMatchObject({ code: 'server_busy' });
});

it('other requests run between two tasks that are parsed, however many have arrived', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
  world.lookup = () => body(JSON.stringify({ result: { id: 'task-1', contextId: 'x' } }));
  const parse = vi.spyOn(JSON, 'parse');
  const parsed: number[] = [];
  let isOver = false;
  const count = (): void => {
    parsed.push(parse.mock.calls.filter(([text]) => text.includes('contextId')).length);
    if (!isOver) setImmediate(count);
  };
  count();
  await Promise.all(Array.from({ length: 30 }, () => ada.call('GetTask', { id: 'task-1' })));
  isOver = true;
  expect(parsed.at(-1)).toBeGreaterThanOrEqual(29);
  const most = parsed.map((now, index) => now - (parsed[index - 1] ?? 0));
  expect(Math.max(...most)).toBe(1);
});

it('a task that a message names eight times is looked up once', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
  // A context of this length is not cached.
  world.tasks.set('task-1', 'x'.repeat(257));
  await ada.send({ referenceTaskIds: Array.from({ length: 8 }, () => 'task-1') });
  expect(ada.lookups).toBe(1);
});

it.each([true, false])('a task is looked up for each user of the agent, named (%s) or not', async (isNamed) => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada');
  ada.begun('task-1', { account: '' });
  const source = new FakeSessionTokenSource();
  const lookups: number[] = [];
  for (const token of ['one', 'two', 'one']) {
    source.session = { kind: 'token', accessToken: token, ...(isNamed && { subject: token }) };
    await ada.call('GetTask', { id: 'task-1' }, { auth: sessionPlan(source) });
    lookups.push(ada.lookups);
  }
  expect(lookups).toEqual([1, 2, 2]);
});

it.each([
  [256, 1],
  [257, 2],
])('a task whose context has %i characters is looked up %i times by two calls', async (characters, count) => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada', { owns: () => Promise.resolve(true) });
  world.tasks.set('task-1', 'x'.repeat(characters));
  for (let call = 0; call < 2; call += 1) await ada.call('GetTask', { id: 'task-1' });
  expect(ada.lookups).toBe(count);
});

it('the contexts of 10,000 tasks are remembered', async () => {
  const world = new VisitedWorld();
  const credential = await world.rpc.broker.obtain(SERVICE, REQUEST);
  const caller = new Caller(SERVICE, REQUEST, credential);
  let lookups = 0;
  const countLookup = async () => void (lookups += 1);
  const { key } = world.visitor('ada');
  const check = world.guard.of({ keys: [key], owns: () => Promise.resolve(true), countLookup });
  const read = async (id: string) => {
    const reply = { response: json(200, { id, contextId: 'c1' }), counterpart: AGENT, credential };
    const path = restPath(`/tasks/${id}`) as RestPath;
    const call = readRestCall(path, { method: 'GET', query: '' }, undefined, true);
    await check.admit(call, caller, () => Promise.resolve(reply));
  };
  for (let task = 0; task <= 10_000; task += 1) await read(`task-${String(task)}`);
  for (const [id, count] of [['task-1', 10_001] as const, ['task-0', 10_002] as const]) {
    await read(id);
    expect(lookups).toBe(count);
  }
});

it('a look-up in JSON-RPC has the spelling and the tenant of the call, and asks for JSON without the history', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada');
  const [plain, ofTenant] = [{ id: 'task-1' }, { id: 'task-2', tenant: 'acme' }];
  ada.begun('task-1');
  ada.begun('task-2', { tenant: 'acme' });
  const head = { headers: { accept: 'text/event-stream' } };
  await ada.call('tasks/resubscribe', plain, { head });
  await ada.call('SubscribeToTask', ofTenant, { head });
  const lookups = world.rpc.upstream.requests.filter((_, index) => index % 2 === 0);
  expect(lookups.map(({ body }) => new TextDecoder().decode(body as Uint8Array))).toEqual([
    '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"task-1","historyLength":0}}',
    '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"task-2","historyLength":0,"tenant":"acme"}}',
  ]);
  for (const { headers } of lookups) expect(headers['accept']).toBe('application/json');
});

it('a look-up over HTTP+JSON has the version and the tenant of the call, and asks for JSON without the history', async () => {
  const world = new VisitedWorld();
  const ada = world.visitor('ada');
  for (const id of ['task-1', 'a:b']) ada.begun(id);
  await ada.rest('GET', '/tasks/task-1', undefined, { head: { query: '?historyLength=2&A2A-Version=1.0' } });
  await ada.rest('GET', '/tasks/a%3Ab');
  ada.begun('task-2', { tenant: 'a b' });
  await ada.rest('GET', '/a%20b/tasks/task-2', undefined, { tenant: 'a b' });
  ada.begun('task-3');
  await ada.rest('GET', '/v1/tasks/task-3');
  expect(world.calls).toEqual([
    'GET /rest/tasks/task-1?historyLength=0&A2A-Version=1.0',
    'GET /rest/tasks/task-1?historyLength=2&A2A-Version=1.0',
    'GET /rest/tasks/a%3Ab?historyLength=0',
    'GET /rest/tasks/a%3Ab',
    'GET /rest/a%20b/tasks/task-2?historyLength=0',
    'GET /rest/a%20b/tasks/task-2',
    'GET /rest/v1/tasks/task-3?historyLength=0',
    'GET /rest/v1/tasks/task-3',
  ]);
  expect(world.rest.upstream.requests[0]?.headers).toMatchObject({ accept: 'application/json' });
});
