import { describe, expect, it } from 'vitest';
import { discard } from '../../../src/domain/shared/body.js';
import { bodyText } from '../../../src/domain/upstream/body-bytes.js';
import type { HttpBody } from '../../../src/ports/http.js';
import { WatchedBody } from '../chat/chat-world.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const never = (): never => {
  throw new Error('out of order');
};

describe('the text of a body', () => {
  it.each<[string, HttpBody, string]>([
    ['null', null, ''],
    ['text', 'größe', 'größe'],
    ['bytes', bytes('größe'), 'größe'],
    ['a stream', new WatchedBody('grö', 'ße'), 'größe'],
    ['an empty stream', new WatchedBody(), ''],
  ])('is the same when it is %s', async (_what, body, text) => {
    expect(await bodyText(body, 100)).toBe(text);
  });

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
    ['a stream that never finishes its return()', { [Symbol.asyncIterator]: () => ({ next: never, return: never }) }],
  ])('can be discarded when it is %s', (_what, body) => {
    expect(() => discard(body)).not.toThrow();
  });
});
