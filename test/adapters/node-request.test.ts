import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { NodeRequest, type ParsedBody } from '../../src/adapters/node/request.js';

/** A request that a parser of the host has read, with its result. */
function parsed(result: ParsedBody, headers: Record<string, string> = { 'content-length': '1' }): NodeRequest {
  const request = new IncomingMessage(new Socket());
  request.headers = headers;
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
});

it('a parsed value that is nested too deeply to be written again fails when it is read', async () => {
  const { body } = parsed({ body: nested(100_000) });
  const read = async (): Promise<void> => {
    for await (const chunk of body as AsyncIterable<Uint8Array>) void chunk;
  };
  await expect(read()).rejects.toThrow(RangeError);
});
