import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStream } from '../../../src/adapters/web/response-body.js';
import { bytes, streamed } from './browser-request.js';
import type { BodySink } from '../../../src/domain/shared/body.js';
import { PushFlow } from './push-flow.js';
import { PushStream } from './push-stream.js';

const BROKEN_EVENT = 'event: error\ndata: {"requestId":"req-1"}\n\n';
const KEEP_ALIVE = ': keep-alive\n\n';

interface Watched<Source> {
  readonly source: Source;
  readonly stream: EventStream;
  /** Errors that broke the stream, one per report. */
  readonly breaks: unknown[];
}

function watched(keepAliveMs?: number): Watched<PushStream>;
function watched<Source extends AsyncIterable<Uint8Array>>(keepAliveMs: number, source: Source): Watched<Source>;
function watched(keepAliveMs = 15_000, source: AsyncIterable<Uint8Array> = new PushStream()): Watched<unknown> {
  const breaks: unknown[] = [];
  const stream = new EventStream(source, {
    keepAliveMs,
    brokenEvent: () => BROKEN_EVENT,
    onBroken: (error) => breaks.push(error),
  });
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

/** Lets the stream flow to it; `isReady` is its response to a chunk. */
class Sink implements Reading, BodySink {
  text = '';
  outcome: Outcome = 'reading';
  isReady = true;
  readonly #decoder = new TextDecoder();

  constructor(stream: EventStream) {
    stream.flowTo(this);
  }

  write(chunk: Uint8Array): boolean {
    this.text += this.#decoder.decode(chunk, { stream: true });
    return this.isReady;
  }

  end(): void {
    this.outcome = 'ended';
  }

  fail(thrown: unknown): void {
    this.outcome = { thrown };
  }
}

/** A stream is read step by step or flows; so is its source. */
const WAYS = [
  { way: 'read step by step', source: () => new PushStream(), read: (stream: EventStream) => new Reader(stream) },
  { way: 'flowing from steps', source: () => new PushStream(), read: (stream: EventStream) => new Sink(stream) },
  { way: 'read as it flows', source: () => new PushFlow(), read: (stream: EventStream) => new Reader(stream) },
  { way: 'flowing', source: () => new PushFlow(), read: (stream: EventStream) => new Sink(stream) },
] as const;

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
    const options = { keepAliveMs: 0, brokenEvent: () => BROKEN_EVENT, onBroken: () => undefined };
    const { value } = await new EventStream(streamed([piece]), options)[Symbol.asyncIterator]().next();
    expect(value).toBe(piece);
  });

  it("reads its source at its reader's pace", async () => {
    const { source, stream } = watched();
    for (let count = 0; count < 3; count += 1) source.push('data: 1\n\n');
    await stream[Symbol.asyncIterator]().next();
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
    expect(await stream[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
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
    const stream = new EventStream(source, {
      keepAliveMs: 0,
      brokenEvent: () => BROKEN_EVENT,
      onBroken: () => undefined,
    });
    expect(await stream[Symbol.asyncIterator]().return?.()).toEqual({ done: true, value: undefined });
  });
});

describe.each(WAYS)('a silent stream, $way,', ({ source: sourceOf, read }) => {
  it('gets a comment after each span of silence, also before the first event', async () => {
    const { source, stream } = watched(15_000, sourceOf());
    const reader = read(stream);
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
      const { source, stream } = watched(15_000, sourceOf());
      const reader = read(stream);
      source.push(piece);
      await pass(15_000);
      expect(reader.text).toBe(piece + KEEP_ALIVE);
    },
  );

  it('ends with an error event after a comment', async () => {
    const { source, stream } = watched(15_000, sourceOf());
    const reader = read(stream);
    await pass(15_000);
    source.break(new Error('socket hang up'));
    await pass(0);
    expect([reader.text, reader.outcome]).toEqual([KEEP_ALIVE + BROKEN_EVENT, 'ended']);
  });

  it('that breaks within an event fails there, without an event of its own', async () => {
    const { source, stream, breaks } = watched(15_000, sourceOf());
    const reader = read(stream);
    source.push('data: 1\n\ndata: 2\n');
    const thrown = new Error('socket hang up');
    source.break(thrown);
    await pass(0);
    expect([reader.text, reader.outcome, breaks]).toEqual(['data: 1\n\ndata: 2\n', { thrown }, [thrown]]);
  });

  it('gets no comment with a span of 0', async () => {
    const { stream } = watched(0, sourceOf());
    const reader = read(stream);
    await pass(86_400_000);
    expect([reader.text, reader.outcome]).toEqual(['', 'reading']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves no timer behind', async () => {
    const { source, stream } = watched(15_000, sourceOf());
    const reader = read(stream);
    await pass(1);
    source.push('data: 1\n');
    await pass(1);
    expect(vi.getTimerCount()).toBe(0);
    source.push('\n');
    await pass(1);
    expect(vi.getTimerCount()).toBe(1);
    source.break(new Error('socket hang up'));
    await pass(1);
    expect([vi.getTimerCount(), reader.outcome]).toEqual([0, 'ended']);
  });
});

describe('a stream that flows', () => {
  it('passes each chunk before its source continues', () => {
    const { source, stream } = watched(15_000, new PushFlow());
    const sink = new Sink(stream);
    source.push('data: 1\n\n');
    expect(sink.text).toBe('data: 1\n\n');
  });

  it('holds its source back while the sink is full', () => {
    const { source, stream } = watched(15_000, new PushFlow());
    const sink = new Sink(stream);
    sink.isReady = false;
    expect(source.push('data: 1\n\n')).toBe(false);
    expect(source.resumed).toBe(0);
    sink.isReady = true;
    stream.flowTo(sink);
    expect(source.resumed).toBe(1);
    expect(source.push('data: 2\n\n')).toBe(true);
  });

  it('does not count a full sink as silence', async () => {
    const { source, stream } = watched(15_000, new PushFlow());
    const sink = new Sink(stream);
    sink.isReady = false;
    source.push('data: 1\n\n');
    await pass(60_000);
    expect(sink.text).toBe('data: 1\n\n');
    stream.flowTo(sink);
    await pass(15_000);
    expect(sink.text).toBe(`data: 1\n\n${KEEP_ALIVE}`);
  });

  it('requests chunks only while the sink has room', async () => {
    const { source, stream } = watched();
    const sink = new Sink(stream);
    sink.isReady = false;
    for (let count = 0; count < 3; count += 1) source.push('data: 1\n\n');
    await pass(0);
    expect(source.pulls).toBe(1);
    stream.flowTo(sink);
    stream.flowTo(sink);
    await pass(0);
    expect(source.pulls).toBe(2);
  });

  it('stays ended when the sink has room again', async () => {
    const { source, stream } = watched(15_000, new PushFlow());
    const sink = new Sink(stream);
    sink.isReady = false;
    source.push('data: 1\n\n');
    source.end();
    stream.flowTo(sink);
    expect([source.resumed, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('breaks when its source throws synchronously', () => {
    const error = new Error('out of order');
    const { stream, breaks } = watched(15_000, {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw error;
        },
      }),
    });
    const sink = new Sink(stream);
    expect([sink.text, sink.outcome, breaks]).toEqual([BROKEN_EVENT, 'ended', [error]]);
  });

  it.each([new PushStream(), new PushFlow()])('stops its source when abandoned', async (source) => {
    const { stream, breaks } = watched(15_000, source);
    const sink = new Sink(stream);
    stream.cancel();
    expect(source.returned).toBe(true);
    source.push('data: 1\n\n');
    await pass(60_000);
    source.break(new Error('late'));
    source.push('data: 2');
    source.break(new Error('late'));
    source.end();
    stream.cancel(new Error('late'));
    expect([sink.text, sink.outcome, breaks]).toEqual(['', 'reading', []]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
