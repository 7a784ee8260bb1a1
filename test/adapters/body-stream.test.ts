import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BodyStream, toNodeBody } from '../../src/adapters/node/body-stream.js';
import { PushStream } from './web/push-stream.js';

const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

/** Yields its chunks: at once, like a body that was read ahead, or in another turn, like one from a socket. */
async function* yielding(chunks: readonly Buffer[], isLate: boolean): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (isLate) await new Promise(setImmediate);
    yield chunk;
  }
}

const READERS: Record<string, (stream: BodyStream) => Promise<Buffer>> = {
  'steps of its iterator': async (stream) => {
    const read: Buffer[] = [];
    for await (const chunk of stream) read.push(chunk as Buffer);
    return Buffer.concat(read);
  },
  'a pipe to somebody slow': async (stream) => {
    const read: Buffer[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        read.push(chunk);
        setImmediate(done);
      },
    });
    await pipeline(stream, slow);
    return Buffer.concat(read);
  },
  'pieces of its own size': async (stream) => {
    const read: Buffer[] = [];
    await new Promise<void>((resolve, reject) => {
      stream.on('readable', () => {
        for (let piece = stream.read(7) ?? stream.read(); piece !== null; piece = stream.read(7) ?? stream.read()) {
          read.push(piece as Buffer);
        }
      });
      stream.once('end', resolve).once('error', reject);
    });
    return Buffer.concat(read);
  },
  'a listener that reads on while it is told': async (stream) => {
    const read: Buffer[] = [];
    await new Promise<void>((resolve, reject) => {
      stream.on('data', (chunk: Buffer) => {
        read.push(chunk);
        stream.read(0);
      });
      stream.once('end', resolve).once('error', reject);
    });
    return Buffer.concat(read);
  },
};

describe('a body as a Node stream', () => {
  it.each(Object.entries(READERS))('keeps every chunk in order when read by %s', async (_how, readAll) => {
    const size = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 60_000, max: 70_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 12 }), fc.boolean(), async (sizes, isLate) => {
        const chunks = sizes.map((length, index) => Buffer.alloc(length, index + 1));
        const read = await readAll(new BodyStream(yielding(chunks, isLate), response(), 0));
        expect(read.equals(Buffer.concat(chunks))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('starts only when it is read', () => {
    const body = new PushStream();
    new BodyStream(body, response(), 0);
    expect(body.pulls).toBe(0);
  });

  it('sends the head when its body is first read', () => {
    const answer = response();
    new BodyStream(new PushStream(), answer, 0).read(0);
    expect(answer.headersSent).toBe(true);
  });
});

describe('a body for a framework', () => {
  it.each([
    [null, null],
    ['text', 'text'],
    [new Uint8Array(Buffer.from('any bytes')).subarray(4), Buffer.from('bytes')],
  ])('remains whole: %j', (body, expected) => {
    expect(toNodeBody(body, response(), 0)).toEqual(expected);
  });

  it('remains a stream', () => {
    expect(toNodeBody(new PushStream(), response(), 0)).toBeInstanceOf(BodyStream);
  });
});

describe('a body for a framework that breaks', () => {
  /** Read by a framework whose browser accepts bytes only when the test lets it. */
  const reading = (idleMs = 0) => {
    const body = new PushStream();
    const answer = response();
    const accepted: (() => void)[] = [];
    const socket = new Writable({ highWaterMark: 1, write: (_chunk, _coding, done) => accepted.push(done) });
    socket.on('drain', () => answer.emit('drain'));
    answer.assignSocket(socket as Socket);
    const stream = new BodyStream(body, answer, idleMs);
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve));
    stream.read(0);
    return { body, answer, stream, failed, accepted };
  };

  it.each([
    ['an error', new Error('reset'), 'reset', undefined],
    ['something else', 'a text', 'the body broke', 'a text'],
  ])('with %s fails with an error and breaks the response', async (_what, thrown, message, cause) => {
    const { body, answer, stream, failed } = reading();
    body.break(thrown as Error);
    const error = await failed;
    expect(error).toMatchObject({ message });
    expect(error.cause).toBe(cause);
    expect([stream.failure, stream.stall, answer.destroyed]).toEqual([error, undefined, true]);
  });

  it('leaves the response to the framework when it stops reading without an error', () => {
    const { answer, stream } = reading();
    stream.destroy();
    expect(answer.destroyed).toBe(false);
  });

  it('names the setting when its browser accepts nothing, and cancels the body', async () => {
    const { body, answer, stream, failed } = reading(2);
    body.push('x'.repeat(100_000));
    const error = await failed;
    expect(error.message).toBe('the browser accepted no data for 2 ms: see "timeouts.sendIdleMs"');
    expect([stream.stall, stream.failure, answer.destroyed]).toEqual([error, undefined, true]);
    expect(body.reason).toBe(error);
  });

  it('goes on while its browser accepts a little, and only so long, while small chunks keep coming', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { body, answer, stream, failed, accepted } = reading(40);
    stream.pipe(answer);
    const pass = async (): Promise<void> => {
      for (const chunk of ['some', 'more']) body.push(chunk);
      await new Promise(setImmediate);
      vi.advanceTimersByTime(10);
    };
    for (let turn = 0; turn < 9; turn += 1) {
      await pass();
      for (const accept of accepted.splice(0, 1)) accept();
    }
    expect([stream.stall, stream.destroyed]).toEqual([undefined, false]);
    for (let turn = 0; turn < 8; turn += 1) await pass();
    expect(await failed).toBe(stream.stall);
  });
});
