import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { UndiciUpstream } from '../../src/adapters/undici/undici-upstream.js';
import type { HttpResponse, UpstreamFailureReason } from '../../src/ports/http.js';
import { httpUpstreamContract, responseOf, textOf, upstreamRequest } from '../contracts/http-upstream.contract.js';
import { loopbackCase } from '../support/loopback-case.js';
import type { Answer } from '../support/recording-upstream.js';
import { runUndiciWorld } from './undici-world.js';
import { socketServer } from '../support/socket-server.js';
import { timed } from '../support/stopwatch.js';

httpUpstreamContract('UndiciUpstream', () => {
  const upstream = new UndiciUpstream({ connectMs: 5_000 });
  return loopbackCase(upstream, () => upstream.close());
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('UndiciUpstream', () => {
  const world = runUndiciWorld();
  const { send, opened } = world;
  const iterate = (response: HttpResponse): AsyncIterator<Uint8Array> =>
    (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();

  it.each([
    ['application/json', true],
    ['text/event-stream', false],
  ])('returns a short response of %s as bytes: %s', async (type, isBytes) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: 2\r\n\r\n`;
    const host = await socketServer((socket) => socket.once('data', () => socket.end(`${head}\n\n`)));
    const { body } = responseOf(await send({ origin: `http://${host}` }));
    expect(body instanceof Uint8Array).toBe(isBytes);
    expect(await textOf(body)).toBe('\n\n');
  });

  const faults: readonly [string, Answer, UpstreamFailureReason][] = [
    ['a connection that is reset', (exchange) => exchange.reset(), 'reset'],
    ['a connection that ends', (exchange) => exchange.fin(), 'reset'],
    ['a half head', (exchange) => exchange.raw('HTTP/1.1 200 OK\r\nCon').fin(), 'reset'],
    ['an answer in another protocol', (exchange) => void exchange.raw('SSH-2.0-OpenSSH\r\n\r\n'), 'invalid'],
    ['one byte of another protocol', (exchange) => void exchange.raw('S'), 'invalid'],
    ['an answer with fewer bytes than a status', (exchange) => void exchange.raw('HTTP/2 400\n'), 'invalid'],
    ['a TLS alert and an end', (exchange) => exchange.raw(Buffer.from('15030300020250', 'hex')).fin(), 'invalid'],
    ['the settings of HTTP/2', (exchange) => void exchange.raw(Buffer.from('000000040000000000', 'hex')), 'invalid'],
    ['a bare line feed', (exchange) => void exchange.raw('HTTP/1.1 200 OK\nX: 1\n\n'), 'invalid'],
    [
      'two lengths',
      (exchange) => void exchange.raw('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      'invalid',
    ],
    ['a status of 000', (exchange) => void exchange.raw('HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'), 'invalid'],
    ['a status of 1000', (exchange) => void exchange.raw('HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n'), 'invalid'],
    ['a status of 600', (exchange) => void exchange.raw('HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'), 'invalid'],
    [
      'an upgrade',
      (exchange) => void exchange.raw('HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      'invalid',
    ],
    [
      'a head without an end',
      (exchange) => void exchange.raw(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(99_999)}`),
      'invalid',
    ],
    [
      'an unsolicited 100',
      (exchange) => void exchange.raw('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
      'invalid',
    ],
    ['a 100 without an end', (exchange) => void exchange.raw(`HTTP/1.1 100 C\r\nX: ${'a'.repeat(99_999)}`), 'invalid'],
  ];
  it.each(faults)('names the fault of %s', async (_what, answer, reason) => {
    world.platform.willAnswer(answer);
    const detail = expect.not.stringContaining('undefined') as string;
    expect(await send()).toMatchObject({ kind: 'failure', reason, log: detail });
    expect(world.platform.requests).toHaveLength(1);
  });

  // On Node 20, formatting the message of such an assertion takes minutes where the package is bundled.
  it.each(['000', '099', '101'])('rejects the status %s without an assertion error', async (status) => {
    world.platform.willAnswer((exchange) => void exchange.raw(`HTTP/1.1 ${status} X\r\nContent-Length: 2\r\n\r\n{}`));
    expect(await send()).toMatchObject({ reason: 'invalid', log: `Error: status ${String(Number(status))}` });
  });

  it.each([
    ['a coding upon a coding', 'Content-Encoding: gzip, gzip', 'gzip'],
    ['two Content-Encoding fields', 'Content-Encoding: gzip\r\nContent-Encoding: gzip', 'gzip'],
    ['an unknown coding', 'Content-Encoding: rot13', 'gzip, br'],
    ['a coding that was not requested', 'Content-Encoding: zstd', 'identity'],
    ['a coding when none was requested', 'Content-Encoding: zstd', undefined],
  ])('reports an invalid response for %s', async (_what, fields, accepted) => {
    world.platform.willAnswer(
      (exchange) => void exchange.raw(`HTTP/1.1 200 OK\r\n${fields}\r\nContent-Length: 2\r\n\r\n{}`),
    );
    expect(await send({ headers: { 'accept-encoding': accepted } })).toMatchObject({
      reason: 'invalid',
      log: 'Error: unreadable content-encoding',
    });
  });

  it.each(['br, zstd;q=0.5', 'ZSTD', 'br, *;q=0.1'])('accepts a coding that it requested as %s', async (accepted) => {
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-encoding': 'zstd' }).end('x'));
    expect(responseOf(await send({ headers: { 'accept-encoding': accepted } })).status).toBe(200);
  });

  it.each(['gzip ', 'x-gzip', 'deflate', 'BR'])('accepts "%s", which every browser supports', async (coding) => {
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-encoding': coding }).end('x'));
    expect(responseOf(await send()).headers['content-encoding']).toBe(coding);
  });

  it.each(['', ' Identity '])('treats a response with the coding "%s" as plain', async (coding) => {
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-encoding': coding }).end('x'));
    const { headers } = responseOf(await send({ headers: { 'accept-encoding': 'gzip' } }));
    expect(headers['content-encoding']).toBe(undefined);
  });

  it('accepts plain bodies where the field is there, and undefined', async () => {
    await send({ headers: { 'accept-encoding': undefined } });
    expect(world.platform.requests[0]?.fields).toContainEqual(['accept-encoding', 'identity']);
  });

  it('reads fields that are named like members of every object, and lists repeated ones', async () => {
    const fields = 'Constructor: a\r\ntoString: b\r\n__proto__: c\r\nx-odd: 1\r\nX-Odd: 2\r\nx-odd: 3';
    world.platform.willAnswer(
      (exchange) => void exchange.raw(`HTTP/1.1 200 OK\r\n${fields}\r\nContent-Length: 0\r\n\r\n`),
    );
    const { headers } = responseOf(await send());
    expect(headers).toMatchObject({ tostring: 'b', 'x-odd': ['1', '2', '3'] });
    expect([Object.hasOwn(headers, 'constructor'), headers['constructor']]).toEqual([true, 'a']);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });

  it('joins several types in one field', async () => {
    const types = ['text/plain', 'text/html', 'text/plain'];
    world.platform.willAnswer((exchange) => exchange.head(200, { 'content-type': types }).end('x'));
    expect(responseOf(await send()).headers['content-type']).toBe('text/plain, text/html');
  });

  it.each(['application/json', 'text/event-stream'])('sends a text with its length and accepts %s', async (accept) => {
    await send({ method: 'POST', headers: { accept }, body: '"grüezi"' });
    const [{ body, fields } = { body: '', fields: [] }] = world.platform.requests;
    const expected = [
      ['content-length', '9'],
      ['accept-encoding', 'identity'],
    ];
    expect([body.toString(), fields]).toEqual(['"grüezi"', expect.arrayContaining(expected)]);
  });

  it('reports an unknown name', async () => {
    const detail = expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN): .+ \(.+\)$/) as string;
    expect(await send({ origin: 'http://nobody.invalid' })).toMatchObject({ reason: 'unreachable', log: detail });
  });

  it('reports a missing connection in time', async () => {
    // A listener that never finishes a TLS handshake is the slowest possible network.
    const origin = `https://${await socketServer()}`;
    const impatient = new UndiciUpstream({ connectMs: 50 });
    const { own } = await timed(async () => {
      expect(await impatient.send(upstreamRequest(origin))).toMatchObject({ kind: 'failure', reason: 'timeout' });
    });
    expect(own).toBeLessThan(5_000);
    await impatient.close();
  });

  it('does not send a request when the browser has left already', async () => {
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ kind: 'failure', reason: 'aborted' });
    expect(world.platform.requests).toEqual([]);
  });

  it('aborts a request without a connection when the browser leaves', async () => {
    const browser = new AbortController();
    // The connection is accepted, but its TLS handshake never ends.
    const host = await socketServer(() => browser.abort());
    const patient = new UndiciUpstream({ connectMs: 0 });
    const outcome = await patient.send(upstreamRequest(`https://${host}`, { signal: browser.signal }));
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted', sent: 'nothing' });
    await patient.close();
  });

  it('aborts a response when its reader stops', async () => {
    const { exchange, response } = await opened();
    const chunks = iterate(response);
    exchange.write('one');
    await chunks.next();
    await chunks.return?.();
    await exchange.closed;
    expect(exchange.aborted).toBe(true);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  it('keeps no listener on the browser after a complete response', async () => {
    const browser = new AbortController();
    await textOf(responseOf(await send({ signal: browser.signal })).body);
    expect(getEventListeners(browser.signal, 'abort')).toEqual([]);
    browser.abort();
    const { exchange, response } = await opened();
    exchange.end('still here');
    expect(await textOf(response.body)).toBe('still here');
  });

  it('does not time out while its reader is slow', async () => {
    const slow = await opened({ bodyIdleMs: 500 });
    slow.exchange.end(Buffer.alloc(8 * 1_048_576));
    const other = await opened({ bodyIdleMs: 1_000 });
    await expect(textOf(other.response.body)).rejects.toThrow('silent for too long');
    expect((await textOf(slow.response.body)).length).toBe(8 * 1_048_576);
  });

  it.each([1, 4_096, 4_097, 3_000_000])('sends %i bytes with their length on one connection', async (length) => {
    const body = new Uint8Array(length).fill(0x61);
    world.platform.willAnswer((exchange) => exchange.end('{}'));
    for (let count = 0; count < 2; count += 1) await textOf(responseOf(await send({ method: 'POST', body })).body);
    const received = world.platform.requests.map((request) => ({
      isWhole: request.body.equals(body),
      framing: request.fields.filter(([name]) => name === 'content-length' || name === 'transfer-encoding'),
    }));
    const whole = { isWhole: true, framing: [['content-length', String(length)]] };
    expect(received).toEqual([whole, whole]);
    expect(await world.platform.connections()).toBe(1);
  });

  it('keeps no copy of a long message while its stream is open', async () => {
    const message = new WeakRef(new Uint8Array(100_000));
    const { exchange, response } = await opened({ method: 'POST', body: message.deref() ?? null }, 'text/event-stream');
    await expect
      .poll(() => {
        collectGarbage();
        return message.deref();
      })
      .toBeUndefined();
    exchange.end('data: 1\n\n');
    expect(await textOf(response.body)).toBe('data: 1\n\n');
  });

  it('opens one connection per open response and reuses them', async () => {
    world.platform.willWait();
    const pending = Array.from({ length: 150 }, () => send());
    const exchanges = await Promise.all(pending.map(() => world.platform.next()));
    expect(await world.platform.connections()).toBe(150);
    for (const exchange of exchanges) exchange.end('{}');
    for (const outcome of await Promise.all(pending)) await textOf(responseOf(outcome).body);
    world.platform.willAnswerAgain();
    for (let count = 0; count < 20; count += 1) await textOf(responseOf(await send()).body);
    // A connection is free one turn of the event loop after its response, so an early caller may open one more.
    expect(await world.platform.connections()).toBeLessThanOrEqual(151);
  });

  it('opens no connection in place of abandoned streams', async () => {
    const browsers = Array.from({ length: 20 }, () => new AbortController());
    const open = await Promise.all(browsers.map(({ signal }) => opened({ signal }, 'text/event-stream')));
    for (const browser of browsers) browser.abort();
    await Promise.all(open.map(({ exchange }) => exchange.closed));
    // Replacements would open within the next turns.
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(await world.platform.connections()).toBe(0);
  });
});
