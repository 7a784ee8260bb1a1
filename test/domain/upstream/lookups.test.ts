import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { within } from '../../../src/domain/upstream/lookups.js';
import { PLATFORM, AGENT } from '../../../src/domain/upstream/platform-error.js';
import { Deferred } from '../credentials/token-fixture.js';
import { errorOf } from '../../support/error-of.js';

describe('a look-up', () => {
  it('that ends in time returns its result', async () => {
    const { signal } = new AbortController();
    expect(await within(signal, PLATFORM, Promise.resolve('found'))).toBe('found');
  });

  it('that fails in time throws its own error', async () => {
    const { signal } = new AbortController();
    await expect(within(signal, PLATFORM, Promise.reject(new TypeError('no such thing')))).rejects.toThrow(
      'no such thing',
    );
  });

  it.each([AGENT, PLATFORM])('times out with the name of its target: $name', async (asked) => {
    const deadline = new AbortController();
    const looking = within(deadline.signal, asked, new Promise(() => undefined));
    deadline.abort();
    const error = await errorOf(looking);
    expect(error).toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_timeout',
      detail: `The ${asked.name} did not respond in time.`,
      retryable: true,
    });
    expect(error.logDetail()).toBe(`a look-up at the ${asked.name} took longer than "lookupMs" allows`);
  });

  it('times out when its deadline has passed already', async () => {
    const looking = within(AbortSignal.abort(), PLATFORM, new Promise(() => undefined));
    await expect(looking).rejects.toMatchObject({ code: 'upstream_timeout' });
  });

  it.each<[string, (work: Deferred<string>) => void]>([
    ['succeeded', (work) => work.resolve('found')],
    ['failed', (work) => work.reject(new TypeError('no such thing'))],
  ])('that %s leaves no listener on a shared deadline', async (_how, end) => {
    const { signal } = new AbortController();
    const work = new Deferred<string>();
    const looking = within(signal, PLATFORM, work.promise).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    end(work);
    await looking;
    await expect.poll(() => getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('that timed out leaves no listener on the deadline', async () => {
    const deadline = new AbortController();
    const looking = within(deadline.signal, PLATFORM, new Promise(() => undefined));
    deadline.abort();
    await expect(looking).rejects.toMatchObject({ code: 'upstream_timeout' });
    expect(getEventListeners(deadline.signal, 'abort')).toHaveLength(0);
  });
});
