import { describe, expect, it } from 'vitest';
import { discard } from '../../../src/domain/shared/body.js';
import { bodyBytes, bodyText, readAhead, readStart } from '../../../src/domain/upstream/body-bytes.js';
import type { HttpBody } from '../../../src/ports/http.js';
import { WatchedBody } from '../chat/chat-world.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const BROKEN = new Error('the connection broke');
const outOfOrder = (): never => {
  throw new Error('out of order');
};

/** Yields its chunks one by one, then breaks or ends, and counts the reads. */
class Source implements AsyncIterable<Uint8Array> {
  asked = 0;
  ended = false;
  readonly #chunks: readonly string[];
  readonly #breaks: boolean;

  constructor(chunks: readonly string[], breaks = false) {
    this.#chunks = chunks;
    this.#breaks = breaks;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => {
        const chunk = this.ended ? undefined : this.#chunks[this.asked];
        this.asked += 1;
        if (chunk !== undefined) return Promise.resolve({ done: false, value: bytes(chunk) });
        return this.#breaks ? Promise.reject(BROKEN) : Promise.resolve({ done: true, value: undefined });
      },
      return: () => {
        this.ended = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}

/** The text of a body that was read completely; otherwise its chunks and the error that ends it. */
async function read(body: HttpBody, limitBytes: number): Promise<string | readonly string[]> {
  const found = await readAhead(body, limitBytes);
  if (found.complete) return new TextDecoder().decode(found.bytes);
  const chunks: string[] = [];
  try {
    for await (const chunk of found.body) chunks.push(new TextDecoder().decode(chunk));
  } catch (error) {
    return [...chunks, String(error)];
  }
  return chunks;
}

describe('a body read from its start', () => {
  it.each<[string, HttpBody, string]>([
    ['null', null, ''],
    ['text', 'größe', 'größe'],
    ['bytes', bytes('bytes'), 'bytes'],
    ['a stream of one chunk', new Source(['whole']), 'whole'],
    ['a stream of several chunks', new Source(['in ', 'three ', 'parts']), 'in three parts'],
    ['a stream without chunks', new Source([]), ''],
  ])('is complete when it is %s up to the limit', async (_what, body, text) => {
    expect(await read(body, 100)).toBe(text);
  });

  it.each<[string, () => HttpBody]>([
    ['text, counted in bytes', () => 'äöü'],
    ['bytes', () => bytes('äöü')],
    ['a stream', () => new Source(['äö', 'ü'])],
  ])('can be as long as the limit: %s', async (_what, body) => {
    expect(await read(body(), 6)).toBe('äöü');
    expect(await read(body(), 5)).toEqual(expect.any(Array));
  });

  it('is returned without a copy when it is one chunk', async () => {
    const chunk = bytes('whole');
    const found = await readAhead(new WatchedBody(chunk), 100);
    expect(found.complete ? found.bytes : undefined).toBe(chunk);
  });

  it.each<[string, HttpBody, readonly string[]]>([
    ['text', 'too long', ['too long']],
    ['bytes', bytes('too long'), ['too long']],
    ['a stream', new Source(['one', 'two', 'three', 'four']), ['one', 'two', 'three', 'four']],
  ])('is passed on completely when too long: %s', async (_what, body, chunks) => {
    expect(await read(body, 5)).toEqual(chunks);
  });

  it('is read no further than needed when too long', async () => {
    const source = new Source(['one', 'two', 'three', 'four']);
    await readAhead(source, 5);
    expect([source.asked, source.ended]).toEqual([2, false]);
  });

  it('is passed on with its error when it breaks', async () => {
    expect(await read(new Source(['one', 'two'], true), 100)).toEqual(['one', 'two', String(BROKEN)]);
    expect(await read(new Source([], true), 100)).toEqual([String(BROKEN)]);
  });

  it('ends and yields no more chunks when it is cancelled', async () => {
    const source = new Source(['one', 'two', 'three']);
    const found = await readAhead(source, 5);
    if (found.complete) throw new Error('not too long');
    const iterator = found.body[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual(bytes('one'));
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(source.ended).toBe(true);
    expect((await iterator.next()).done).toBe(true);
  });

  it.each<[string, HttpBody]>([
    ['text', 'too long'],
    ['a stream that broke', new Source(['one'], true)],
  ])('can be cancelled when nothing is left: %s', async (_what, body) => {
    const found = await readAhead(body, 5);
    if (found.complete) throw new Error('complete');
    const iterator = found.body[Symbol.asyncIterator]();
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
  });
});

describe('all bytes of a body', () => {
  it('are returned within the limit', async () => {
    expect(await bodyBytes(new Source(['ab', 'c']), 3)).toEqual(bytes('abc'));
  });

  it('are not returned over the limit, and the rest is cancelled', async () => {
    const source = new Source(['ab', 'cd', 'ef']);
    expect(await bodyBytes(source, 3)).toBeUndefined();
    expect([source.asked, source.ended]).toEqual([2, true]);
  });

  it('are not returned when the body breaks', async () => {
    expect(await bodyBytes(new Source(['ab'], true), 3)).toBeUndefined();
    expect(await bodyText(new Source(['ab'], true), 3)).toBeUndefined();
  });
});

describe('the start of a body', () => {
  it.each<[string, () => HttpBody, string, boolean]>([
    ['text', () => 'abc', 'abc', true],
    ['a longer text', () => 'abcd', 'abc', false],
    ['a stream', () => new Source(['ab', 'c']), 'abc', true],
    ['a longer stream', () => new Source(['ab', 'cd']), 'abc', false],
    ['a stream that breaks', () => new Source(['ab'], true), 'ab', false],
  ])('is read up to the limit: %s', async (_what, body, text, isWhole) => {
    const { signal } = new AbortController();
    expect(await readStart(body(), 3, signal)).toEqual({ bytes: bytes(text), isWhole });
  });
});

describe('the text of a body', () => {
  it('is complete when a character is split between chunks', async () => {
    const [whole, first, rest] = [bytes('€'), bytes('€').subarray(0, 1), bytes('€').subarray(1)];
    expect(await bodyText(new WatchedBody(whole, first, rest), 6)).toBe('€€');
  });

  it('is an error when it ends inside a character', async () => {
    expect(await bodyText(new WatchedBody('a', bytes('€').subarray(0, 2)), 6)).toBe('a\ufffd');
  });
});

describe('an unread body', () => {
  it('is cancelled to release its connection', async () => {
    const body = new WatchedBody('unread');
    discard(body);
    expect(body.ended).toBe(true);
  });

  it.each<[string, HttpBody]>([
    ['null', null],
    ['text', 'unread'],
    ['bytes', bytes('unread')],
    ['a stream without return()', { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error()) }) }],
    [
      'a stream that never finishes its return()',
      { [Symbol.asyncIterator]: () => ({ next: outOfOrder, return: outOfOrder }) },
    ],
  ])('can be discarded when it is %s', (_what, body) => {
    expect(() => discard(body)).not.toThrow();
  });
});
