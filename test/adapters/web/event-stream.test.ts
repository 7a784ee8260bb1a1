import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ObservedBody } from '../../../src/adapters/web/response-body.js';
import { bytes, streamed } from './browser-request.js';
import { PushStream } from './push-stream.js';

const BROKEN_EVENT = 'event: error\ndata: {"requestId":"req-1"}\n\n';
const KEEP_ALIVE = ': keep-alive\n\n';

interface Watched<Source> {
  readonly source: Source;
  readonly stream: ObservedBody;
  /** Errors that broke the stream, one per report. */
  readonly breaks: unknown[];
}

function watched(keepAliveMs?: number): Watched<PushStream>;
function watched<Source extends AsyncIterable<Uint8Array>>(keepAliveMs: number, source: Source): Watched<Source>;
function watched(keepAliveMs = 15_000, source: AsyncIterable<Uint8Array> = new PushStream()): Watched<unknown> {
  const breaks: unknown[] = [];
  const observer = { onBroken: (error: unknown) => breaks.push(error) };
  const stream = new ObservedBody(source, observer, { keepAliveMs, brokenEvent: () => BROKEN_EVENT });
  return { source, stream, breaks };
}

type Outcome = 'reading' | 'ended' | { readonly thrown: unknown };

/** The state of a stream so far. */
interface Reading {
  readonly text: string;
  readonly outcome: Outcome;
}

/** Reads to the end in the background, step by step. */
class Reader implements Reading {
  text = '';
  outcome: Outcome = 'reading';

  constructor(stream: AsyncIterable<Uint8Array>) {
    void this.#read(stream);
  }

  async #read(stream: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of stream) this.text += decoder.decode(chunk, { stream: true });
      this.outcome = 'ended';
    } catch (thrown) {
      this.outcome = { thrown };
    }
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe('a stream of events', () => {
  it('passes each chunk itself, not a copy', async () => {
    const piece = bytes('data: 1\n\n');
    const { value } = await watched(0, streamed([piece])).stream.next();
    expect(value).toBe(piece);
  });

  it("reads its source at its reader's pace", async () => {
    const { source, stream } = watched();
    for (let count = 0; count < 3; count += 1) source.push('data: 1\n\n');
    await stream.next();
    await pass(60_000);
    expect(source.pulls).toBe(1);
  });

  it('ends with its source and stays ended', async () => {
    const { source, stream, breaks } = watched();
    source.push('data: 1\n\n');
    source.end();
    const reader = new Reader(stream);
    await pass(0);
    expect([reader.text, reader.outcome]).toEqual(['data: 1\n\n', 'ended']);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect([source.pulls, breaks]).toEqual([2, []]);
  });

  it('reads its source once per chunk, whatever comments come between', async () => {
    const { source, stream } = watched();
    const reader = new Reader(stream);
    await pass(30_000);
    source.push('data: 1\n\n');
    await pass(15_000);
    expect(reader.text).toBe(`${KEEP_ALIVE.repeat(2)}data: 1\n\n${KEEP_ALIVE}`);
    expect(source.pulls).toBe(2);
  });

  it('ends when its source cannot be stopped', async () => {
    const source = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false as const, value: bytes('x') }) }),
    };
    expect(await watched(0, source).stream.return()).toEqual({ done: true, value: undefined });
  });
});

describe('a silent stream', () => {
  it('gets a comment after each span of silence, also before the first event', async () => {
    const { source, stream } = watched(15_000);
    const reader = new Reader(stream);
    await pass(14_999);
    expect(reader.text).toBe('');
    await pass(1);
    expect(reader.text).toBe(KEEP_ALIVE);
    await pass(15_000);
    expect(reader.text).toBe(KEEP_ALIVE.repeat(2));
    source.push('data: 1\n\n');
    await pass(14_999);
    expect(reader.text).toBe(`${KEEP_ALIVE.repeat(2)}data: 1\n\n`);
    await pass(1);
    expect(reader.text).toBe(`${KEEP_ALIVE.repeat(2)}data: 1\n\n${KEEP_ALIVE}`);
  });

  it.each(['data: 1\n\n', 'data: 1\r\n\r\n', 'data: 1\r\r', 'data: 1\r\n\r'])(
    'gets a comment between two events, after %j',
    async (piece) => {
      const { source, stream } = watched(15_000);
      const reader = new Reader(stream);
      source.push(piece);
      await pass(15_000);
      expect(reader.text).toBe(piece + KEEP_ALIVE);
    },
  );

  it('ends with an error event after a comment', async () => {
    const { source, stream } = watched(15_000);
    const reader = new Reader(stream);
    await pass(15_000);
    source.break(new Error('socket hang up'));
    await pass(0);
    expect([reader.text, reader.outcome]).toEqual([KEEP_ALIVE + BROKEN_EVENT, 'ended']);
  });

  it('that breaks within an event fails there, without an event of its own', async () => {
    const { source, stream, breaks } = watched(15_000);
    const reader = new Reader(stream);
    source.push('data: 1\n\ndata: 2\n');
    const thrown = new Error('socket hang up');
    source.break(thrown);
    await pass(0);
    expect([reader.text, reader.outcome, breaks]).toEqual(['data: 1\n\ndata: 2\n', { thrown }, [thrown]]);
  });

  it('gets no comment with a span of 0', async () => {
    const { stream } = watched(0);
    const reader = new Reader(stream);
    await pass(86_400_000);
    expect([reader.text, reader.outcome]).toEqual(['', 'reading']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind', async () => {
    const { source, stream } = watched(15_000);
    const reader = new Reader(stream);
    await pass(1);
    source.push('data: 1\n');
    source.push('\n');
    await pass(1);
    expect(vi.getTimerCount()).toBe(1);
    source.break(new Error('socket hang up'));
    await pass(1);
    expect([vi.getTimerCount(), reader.outcome]).toEqual([0, 'ended']);
  });
});

describe('a stream whose source throws synchronously', () => {
  it('breaks', async () => {
    const error = new Error('out of order');
    const { stream, breaks } = watched(15_000, {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw error;
        },
      }),
    });
    const reader = new Reader(stream);
    await pass(0);
    expect([reader.text, reader.outcome, breaks]).toEqual([BROKEN_EVENT, 'ended', [error]]);
  });
});

describe('a stream with a slow reader', () => {
  it('gets no comment until the reader asks again', async () => {
    const { source, stream } = watched();
    source.push('data: 1\n\n');
    await stream.next();
    await pass(60_000);
    const next = stream.next();
    source.push('data: 2\n\n');
    expect(await next).toEqual({ done: false, value: bytes('data: 2\n\n') });
  });

  it('passes what arrived after a comment was taken, without a second read of its source', async () => {
    const { source, stream } = watched();
    const comment = stream.next();
    await pass(15_000);
    expect(await comment).toEqual({ done: false, value: bytes(KEEP_ALIVE) });
    source.push('data: 1\n\n');
    await pass(60_000);
    expect(await stream.next()).toEqual({ done: false, value: bytes('data: 1\n\n') });
    expect(source.pulls).toBe(1);
  });
});

describe('a stream whose reader stops', () => {
  it('breaks without an unhandled rejection when its source breaks at the same time', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    let fail = (_reason: Error): void => undefined;
    const next = (): Promise<never> => new Promise((_resolve, reject) => (fail = reject));
    const breaks: unknown[] = [];
    const observer = { onBroken: (error: unknown) => breaks.push(error) };
    const stream = new ObservedBody({ [Symbol.asyncIterator]: () => ({ next }) }, observer);
    const last = stream.next();
    fail(new Error('the browser left'));
    const stopped = stream.return();
    await stopped;
    expect(await last).toEqual({ done: true, value: undefined });
    vi.useRealTimers();
    await new Promise(setImmediate);
    expect([breaks, unhandled]).toEqual([[new Error('the browser left')], []]);
  });

  it('stops its source, ends the pending read, and reports nothing that comes later', async () => {
    const { source, stream, breaks } = watched();
    const reader = new Reader(stream);
    await pass(1);
    await stream.return();
    expect([source.returned, vi.getTimerCount()]).toEqual([true, 0]);
    source.break(new Error('late'));
    await pass(60_000);
    await stream.return(new Error('late'));
    expect([reader.text, reader.outcome, breaks]).toEqual(['', 'ended', []]);
  });
});
