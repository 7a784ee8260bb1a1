import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { discard, endingWith, isBodiless } from '../../../src/domain/shared/body.js';
import { PushStream } from '../../adapters/web/push-stream.js';

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

describe('a body that is discarded before it is read', () => {
  it('closes a stream of Node', () => {
    const stream = new Readable({ read: () => undefined });
    discard(stream);
    expect(stream.destroyed).toBe(true);
  });

  it('stops its source and ends once, behind an end that waits', async () => {
    const source = new PushStream();
    const ends: boolean[] = [];
    const end = (isComplete: boolean): Promise<void> => Promise.resolve(void ends.push(isComplete));
    const body = endingWith(source, end);
    discard(body);
    discard(body);
    await Promise.resolve();
    expect([source.returned, ends]).toEqual([true, [false]]);
  });
});

describe('a body whose end waits', () => {
  it.each([
    ['is complete', (source: PushStream) => source.end(), true],
    ['breaks', (source: PushStream) => source.break(new Error('broken')), false],
  ])('waits when it %s', async (_title, over, isComplete) => {
    const source = new PushStream();
    let go = (): void => undefined;
    const waited = new Promise<void>((resolve) => (go = resolve));
    const seen: unknown[] = [];
    const body = endingWith(source, (state) => {
      seen.push(state);
      return waited;
    });
    const last = body[Symbol.asyncIterator]()
      .next()
      .catch((error: unknown) => error)
      .then((step) => seen.push(step));
    over(source);
    await new Promise(setImmediate);
    expect(seen).toEqual([isComplete]);
    go();
    await last;
    expect(seen).toHaveLength(2);
  });
});
