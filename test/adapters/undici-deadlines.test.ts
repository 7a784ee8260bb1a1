import { describe, expect, it } from 'vitest';
import { responseOf, textOf } from '../contracts/http-upstream.contract.js';
import { runUndiciWorld } from './undici-world.js';
import { PushStream } from './web/push-stream.js';
import { socketServer } from '../support/socket-server.js';

const world = runUndiciWorld();
const { send, opened } = world;

/** Resolves when other responses have timed out after so many milliseconds of silence, so time has passed without sleeping. */
async function passed(ms: number): Promise<void> {
  const { response } = await opened({ bodyIdleMs: ms });
  await textOf(response.body).catch(() => undefined);
}

describe('the deadline of the head', () => {
  it("does not run during the browser's upload", async () => {
    const upload = new PushStream();
    const pending = send({ headersMs: 150, body: upload });
    upload.push('one');
    await passed(250);
    upload.push('two');
    await passed(250);
    world.platform.willAnswer((exchange) => exchange.json(200, {}));
    upload.end();
    expect(responseOf(await pending).status).toBe(200);
    expect(world.platform.requests.at(-1)?.body.toString()).toBe('onetwo');
  });

  it('runs from the end of an upload', async () => {
    const upload = new PushStream();
    const pending = send({ headersMs: 50, body: upload });
    world.platform.willWait();
    upload.push('one');
    upload.end();
    expect(await pending).toMatchObject({ kind: 'failure', reason: 'timeout' });
  });

  it('runs while the platform does not read an upload', async () => {
    // A platform that has stopped reading.
    const origin = `http://${await socketServer((socket) => void socket.pause())}`;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const flood = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ value: new Uint8Array(65_536) }),
        return: () => Promise.resolve(release()),
      }),
    };
    const outcome = await send({ origin, headersMs: 200, body: flood as unknown as AsyncIterable<Uint8Array> });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'timeout' });
    await released;
  });

  it('ends with the head, also when that comes during an upload', async () => {
    let finish: () => void = () => undefined;
    const host = await socketServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\n');
        finish = () => void socket.write('yes');
      }),
    );
    const upload = new PushStream();
    const pending = send({ origin: `http://${host}`, headersMs: 50, body: upload });
    upload.push('one');
    const response = responseOf(await pending);
    upload.push('two');
    upload.end();
    await passed(150);
    finish();
    expect(await textOf(response.body)).toBe('yes');
  });

  it('of 0 means no limit', async () => {
    world.platform.willWait();
    const pending = send({ headersMs: 0 });
    const exchange = await world.platform.next();
    await passed(20);
    exchange.json(200, {});
    expect(responseOf(await pending).status).toBe(200);
  });

  it('is not extended by early hints', async () => {
    world.platform.willAnswer((exchange) => exchange.raw('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'));
    expect(await send({ headersMs: 100 })).toMatchObject({ kind: 'failure', reason: 'timeout' });
  });
});

describe('the deadline of a whole response', () => {
  it('ends a slow response that is never silent', async () => {
    const { exchange, response } = await opened({ bodyIdleMs: 10_000, bodyMs: 200 });
    const drip = setInterval(() => exchange.write('{'), 20);
    await expect(textOf(response.body)).rejects.toThrow('too long for its whole response');
    clearInterval(drip);
    await exchange.closed;
  });

  it('does not apply to a stream of events', async () => {
    const { exchange, response } = await opened({ bodyMs: 50, bodyIdleMs: 50 }, 'text/event-stream');
    await passed(200);
    exchange.end('data: at last\n\n');
    expect(await textOf(response.body)).toBe('data: at last\n\n');
  });
});

describe('the deadline of silence in a stream of events', () => {
  it('ends a silent stream when configured', async () => {
    const { exchange, response } = await opened({ streamIdleMs: 50 }, 'text/event-stream');
    await expect(textOf(response.body)).rejects.toThrow('silent for too long');
    await exchange.closed;
  });
});
