import { describe, expect, it } from 'vitest';
import { type BodySink, flowing, isBodiless, ReadableFlow } from '../../../src/domain/shared/body.js';
import { Deferred, settled } from '../credentials/token-fixture.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (chunk: Uint8Array): string => new TextDecoder().decode(chunk);
const BROKEN = new Error('broken');

describe('a response', () => {
  it.each([
    ['HEAD', 200, true],
    ['GET', 204, true],
    ['POST', 205, true],
    ['GET', 304, true],
    ['GET', 200, false],
    ['POST', 500, false],
  ])('to %s with status %i has no body: %s', (method, status, bodiless) => {
    expect(isBodiless(method, status)).toBe(bodiless);
  });
});

/** Records its calls; accepts so many chunks before it pauses its body. */
class Sink implements BodySink {
  readonly seen: string[] = [];
  room = Infinity;
  write(chunk: Uint8Array): boolean {
    if (this.room === 0) throw new Error('no room');
    this.room -= 1;
    return this.seen.push(text(chunk)) > 0 && this.room > 0;
  }
  end(): void {
    this.seen.push('the end');
  }
  fail(error: unknown): void {
    this.seen.push(String(error));
  }
}

/** An iterable whose reads the test settles. */
class Pulled implements AsyncIterable<Uint8Array> {
  readonly reads: Deferred<IteratorResult<Uint8Array>>[] = [];
  readonly returned: unknown[] = [];

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => {
        const read = new Deferred<IteratorResult<Uint8Array>>();
        this.reads.push(read);
        return read.promise;
      },
      return: (reason) => Promise.resolve({ done: true, value: this.returned.push(reason) }),
    };
  }

  /** Settles the last read: a letter is a chunk, `.` the end, `!` an error. */
  async yields(sign: string): Promise<void> {
    const read = this.reads.at(-1);
    if (sign === '!') read?.reject(BROKEN);
    else read?.resolve(sign === '.' ? { done: true, value: undefined } : { done: false, value: bytes(sign) });
    await settled();
  }
}

describe('an iterable that flows into a sink', () => {
  it.each([
    ['its end', '.', 'the end'],
    ['its error', '!', 'Error: broken'],
  ])('passes its chunks in order, then %s once', async (_what, last, reported) => {
    const [pulled, sink] = [new Pulled(), new Sink()];
    flowing(pulled).flowTo(sink);
    for (const sign of ['a', 'b', last]) await pulled.yields(sign);
    expect([sink.seen, pulled.reads.length]).toEqual([['a', 'b', reported], 3]);
  });

  it('reads no further chunk while its sink is full, nor two at once', async () => {
    const [pulled, sink] = [new Pulled(), new Sink()];
    const body = flowing(pulled);
    sink.room = 1;
    body.flowTo(sink);
    body.flowTo(sink);
    expect(pulled.reads).toHaveLength(1);
    await pulled.yields('a');
    expect([sink.seen, pulled.reads.length]).toEqual([['a'], 1]);
    sink.room = 2;
    body.flowTo(sink);
    await pulled.yields('b');
    expect([sink.seen, pulled.reads.length]).toEqual([['a', 'b'], 3]);
  });

  it('reports an exception of its sink to it', async () => {
    const [pulled, sink] = [new Pulled(), new Sink()];
    sink.room = 0;
    flowing(pulled).flowTo(sink);
    await pulled.yields('a');
    expect(sink.seen).toEqual(['Error: no room']);
  });

  it.each(['a', '.', '!'])('stops its source when it is cancelled, and reports no later "%s"', async (late) => {
    const [pulled, sink] = [new Pulled(), new Sink()];
    const body = flowing(pulled);
    body.flowTo(sink);
    body.cancel(BROKEN);
    await pulled.yields(late);
    expect([sink.seen, pulled.returned, pulled.reads.length]).toEqual([[], [BROKEN], 1]);
  });

  it('can be read by its iterator instead', async () => {
    const pulled = new Pulled();
    const first = flowing(pulled)[Symbol.asyncIterator]().next();
    await pulled.yields('a');
    expect(await first).toEqual({ done: false, value: bytes('a') });
  });
});

/** Pushes the next of its parts whenever it may flow: their signs are those of `yields`. */
class Flow extends ReadableFlow {
  readonly asked: string[] = [];
  readonly accepted: boolean[] = [];
  readonly cancelled: unknown[] = [];
  readonly #parts: string[];

  constructor(...parts: string[]) {
    super();
    this.#parts = parts;
  }

  flowTo(sink: BodySink): void {
    const part = this.#parts.shift() ?? '';
    for (const sign of part) {
      if (sign === '.') sink.end();
      else if (sign === '!') sink.fail(BROKEN);
      else this.accepted.push(sink.write(bytes(sign)));
    }
    this.asked.push(part);
  }

  cancel(reason?: Error): void {
    this.cancelled.push(reason);
  }
}

describe('a flowing body read by its iterator', () => {
  it.each<[string, string[], string[]]>([
    ['chunks that come on demand', ['a', 'b', '.'], ['a', 'b']],
    ['chunks that come at once', ['abc.'], ['a', 'b', 'c']],
    ['an error after a chunk', ['a', '!'], ['a', 'Error: broken']],
    ['an error that comes with a chunk', ['a!'], ['a', 'Error: broken']],
    ['no chunk', ['.'], []],
  ])('yields %s, then nothing further', async (_what, parts, expected) => {
    const flow = new Flow(...parts);
    const seen: string[] = [];
    try {
      for await (const chunk of flow[Symbol.asyncIterator]()) seen.push(text(chunk));
    } catch (error) {
      seen.push(String(error));
    }
    expect(seen).toEqual(expected);
    expect(await flow[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
    expect([flow.asked, flow.cancelled]).toEqual([parts, []]);
    // Each chunk pauses the flow.
    expect(flow.accepted).not.toContain(true);
  });

  it('continues after the chunk at which its reader stopped', async () => {
    const flow = new Flow('a', 'b');
    expect((await flow[Symbol.asyncIterator]().next()).value).toEqual(bytes('a'));
    expect((await flow[Symbol.asyncIterator]().next()).value).toEqual(bytes('b'));
  });

  it.each([
    ['a reader that waits', ''],
    ['chunks that were not read', 'abc'],
  ])('ends when it is cancelled despite %s', async (_what, part) => {
    const flow = new Flow(part, 'x');
    const iterator = flow[Symbol.asyncIterator]();
    const [first] = [iterator.next(), part === '' ? undefined : await settled()];
    const done = { done: true, value: undefined };
    expect(await iterator.return?.(BROKEN)).toEqual(done);
    expect(await first).toEqual(part === '' ? done : { done: false, value: bytes('a') });
    expect(await iterator.next()).toEqual(done);
    expect([flow.asked, flow.cancelled]).toEqual([[part], [BROKEN]]);
  });

  it('stays as it is, even when another copy of the package created it', () => {
    const copy = Object.assign(new Pulled(), { flowTo: () => undefined, cancel: () => undefined });
    expect(flowing(copy)).toBe(copy);
  });
});
