import { createSecretKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { after, chatDigest, pause, sha256, sleep, systemClock } from '../../src/adapters/system/system.js';
import { timedIdentityProvider, timedTokenExchange } from '../../src/adapters/system/timed-ports.js';
import { withTimeout } from '../../src/domain/shared/deadline.js';
import type { IdentityProvider, TokenExchange } from '../../src/ports/identity-provider.js';
import { clockContract } from '../contracts/clock.contract.js';
import { timed } from '../support/stopwatch.js';

clockContract('the system clock', () => systemClock);

const never = (): Promise<never> => new Promise(() => undefined);

it.each([
  ['a pause', (ms: number) => pause(ms, new AbortController().signal)],
  ['a sleep', sleep],
])('%s takes the milliseconds requested', async (_what, wait) => {
  expect((await timed(() => wait(5))).wall).toBeGreaterThan(4);
});

it('a pause ends when the browser leaves', async () => {
  const browser = new AbortController();
  const pausing = pause(60_000, browser.signal);
  browser.abort();
  await pausing;
});

it('a sleep does not keep the process alive', async () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const sleeping = sleep(1);
  expect(timers()).toBe(before);
  await sleeping;
});

it('a digest is the same in every process and version', () => {
  const digest = '97efc0b40e7e91422f31620201d7200b74722c8f1776c263577c604026eb92b3';
  expect([sha256('grüezi'), sha256(Buffer.from('grüezi'))]).toEqual([digest, digest]);
  expect(chatDigest(createSecretKey(Buffer.alloc(32, 1)))('grüezi')).toBe('1948146ab458e835');
});

it('a chat digest without a key differs from one process to the next', () => {
  const [one, other] = [chatDigest(undefined), chatDigest(undefined)];
  expect(one('anna')).toMatch(/^[\da-f]{16}$/);
  expect(one('anna')).toBe(one('anna'));
  expect(one('anna')).not.toBe(other('anna'));
});

describe('a part with a time limit', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that responds in time leaves no timer', async () => {
    expect(await withTimeout(after(50, 'the part'), Promise.resolve('in time'))).toBe('in time');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('of 0 is waited for', () => {
    void withTimeout(after(0, 'the part'), never());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that never responds is out of order: identity provider', async () => {
    const silent: IdentityProvider = { block: 'okta', identity: never, issue: never };
    const provider = timedIdentityProvider(silent, 50);
    expect([provider.block, provider.signsLocally, provider.recheck?.()]).toEqual(['okta', false, undefined]);
    const seen: unknown[] = [];
    Promise.resolve(provider.identity()).catch((error: unknown) => seen.push(String(error)));
    provider.issue(0).catch((error: unknown) => seen.push(String(error)));
    await vi.advanceTimersByTimeAsync(51);
    const error = 'DeadlineError: the identity provider did not respond within 50 ms';
    expect(seen).toEqual([error, error]);
  });

  it('that never responds is out of order: token exchange', async () => {
    const silent: TokenExchange = { identity: never, exchange: never };
    const exchange = timedTokenExchange(silent, 50);
    const seen: unknown[] = [];
    for (const call of [exchange.identity(), exchange.exchange({ assertion: '' }, 0)]) {
      Promise.resolve(call).catch((error: unknown) => seen.push(String(error)));
    }
    await vi.advanceTimersByTimeAsync(51);
    const error = 'DeadlineError: the token exchange did not respond within 50 ms';
    expect(seen).toEqual([error, error]);
  });

  it('passes results, other errors and a request to recheck', async () => {
    const identity = { principal: 'site', proof: '' };
    const recheck = vi.fn();
    const broken = (): never => {
      throw new TypeError('a bug');
    };
    const provider = timedIdentityProvider({ block: '', identity: () => identity, issue: broken, recheck }, 50);
    const exchange = timedTokenExchange({ identity: () => identity, exchange: broken }, 50);
    provider.recheck?.();
    expect(recheck).toHaveBeenCalledOnce();
    expect([await provider.identity(), await exchange.identity()]).toEqual([identity, identity]);
    await expect(provider.issue(0)).rejects.toThrow('a bug');
    await expect(exchange.exchange({ assertion: '' }, 0)).rejects.toThrow('a bug');
  });
});
