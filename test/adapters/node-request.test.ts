import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NodeRequest, type ParsedBody } from '../../src/adapters/node/request.js';

/** A request that a parser of the host has read, with its result. */
function parsed(result: ParsedBody, headers: object = { 'content-length': '1' }): NodeRequest {
  const request = new IncomingMessage(new Socket());
  request.headers = { ...headers };
  request.push('x');
  request.read();
  Object.assign(request, { method: 'POST' }, result);
  const mount = { target: '/x?q', publicUrl: () => 'https://site.example' };
  return new NodeRequest(request, new ServerResponse(request), mount);
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
const circular: { own?: unknown } = {};
circular.own = circular;

it.each<[string, ParsedBody, string | Uint8Array | null, boolean]>([
  ['an object is its JSON', { body: { a: 'ü' } }, '{"a":"ü"}', false],
  ['text is unchanged', { body: '{"a": 1}' }, '{"a": 1}', false],
  ['bytes are unchanged', { body: Buffer.from('{}') }, Buffer.from('{}'), false],
  [
    'the bytes it kept come first',
    { body: { a: 1 }, rawBody: Buffer.from('{"a": 1}') },
    Buffer.from('{"a": 1}'),
    false,
  ],
  ['a kept value that is neither text nor bytes does not count', { body: { a: 1 }, rawBody: {} }, '{"a":1}', false],
  ['a value that refers to itself is lost', { body: circular }, null, true],
  ['a number without a JSON form is lost', { body: 1n }, null, true],
  ['nothing is lost', {}, null, true],
])('of a body that a parser has read, %s', (_what, result, body, bodyConsumed) => {
  const request = parsed(result, { 'content-length': '1', 'content-encoding': 'gzip', accept: '*/*' });
  expect(request).toMatchObject({ body, bodyConsumed, method: 'POST', path: '/x', query: '?q' });
  const coded = body === null ? { 'content-length': '1', 'content-encoding': 'gzip' } : {};
  expect(JSON.parse(JSON.stringify(request.headers))).toEqual({ accept: '*/*', ...coded });
});

it('a request without a body is not lost', () => {
  expect(parsed({}, {})).toMatchObject({ body: null, bodyConsumed: false });
  expect(parsed({ body: circular }, {})).toMatchObject({ body: null, bodyConsumed: true });
});

it('fields that a host created with values of other types are text, and a list of one value is that value', () => {
  const odd = { host: ['site.example'], 'content-length': 1, 'x-hops': [1, 'b'], dnt: true, 'x-empty': null };
  expect(parsed({}, odd).headers).toEqual({
    host: 'site.example',
    'content-length': '1',
    'x-hops': ['1', 'b'],
    dnt: 'true',
  });
});

/** A request that has arrived as far as its head, and its response. */
function arrived(target = '/') {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'content-length': '4' };
  const response = new ServerResponse(request);
  const mount = { target, publicUrl: () => 'https://site.example/api' };
  return { request, response, ours: new NodeRequest(request, response, mount) };
}

it.each([
  ['/x', '/x', ''],
  ['?q', '', '?q'],
  ['/x?q?', '/x', '?q?'],
])('the target %s has the path "%s" and the query "%s"', (target, path, query) => {
  expect(arrived(target).ours).toMatchObject({ path, query, method: 'GET', publicUrl: 'https://site.example/api' });
});

it('a body whose reading has begun stays a stream', async () => {
  const { request, ours } = arrived();
  const stream = ours.body as AsyncIterableIterator<Uint8Array>;
  const first = stream.next();
  request.push('half');
  expect(ours.body).toBe(stream);
  expect((await first).value).toEqual(Buffer.from('half'));
  await stream.return?.();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

it('a body that was taken as bytes is not read again as a stream', async () => {
  const { request, ours } = arrived();
  const stream = ours.body as AsyncIterableIterator<Uint8Array>;
  request.push('half');
  expect(ours.body).toEqual(Buffer.from('half'));
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

describe('the signal of a request', () => {
  it('is aborted when the browser leaves, even before it was asked for', () => {
    const { response, ours } = arrived();
    const { signal } = ours;
    expect([signal.aborted, ours.signal]).toEqual([false, signal]);
    response.emit('close');
    expect(signal.aborted).toBe(true);
    const gone = arrived();
    gone.response.destroy();
    expect(gone.ours.signal.aborted).toBe(true);
  });

  it('is not aborted by the end of a complete response, even when asked for later', () => {
    for (const isEarly of [true, false]) {
      const { response, ours } = arrived();
      response.assignSocket(new PassThrough() as unknown as Socket);
      if (isEarly) expect(ours.signal.aborted).toBe(false);
      response.end();
      response.emit('close');
      response.destroy();
      expect(ours.signal.aborted).toBe(false);
    }
  });
});

it('a parsed value that is nested too deeply to be written again fails when it is read', async () => {
  const { body } = parsed({ body: nested(100_000) });
  const read = async (): Promise<void> => {
    for await (const chunk of body as AsyncIterable<Uint8Array>) void chunk;
  };
  await expect(read()).rejects.toThrow(RangeError);
});
