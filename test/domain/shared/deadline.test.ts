import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Alarm, withTimeout } from '../../../src/domain/shared/deadline.js';
import { settled } from '../credentials/token-fixture.js';

/** An alarm triggered by the test. */
class FakeAlarm {
  stopped = 0;
  ring: (reason: unknown) => void = () => undefined;

  readonly start: Alarm = (expire) => {
    this.ring = expire;
    return () => {
      this.stopped += 1;
    };
  };
}

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('work with an alarm', () => {
  it('returns its result and stops the alarm', async () => {
    const alarm = new FakeAlarm();
    expect(await withTimeout(alarm.start, Promise.resolve('done'))).toBe('done');
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it('fails with its own error and stops the alarm', async () => {
    const alarm = new FakeAlarm();
    await expect(withTimeout(alarm.start, Promise.reject(new TypeError('broken')))).rejects.toThrow('broken');
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it("fails with the alarm's reason when late", async () => {
    const alarm = new FakeAlarm();
    const work = withTimeout(alarm.start, never());
    alarm.ring(new RangeError('too late'));
    await expect(work).rejects.toThrow('too late');
  });

  it('that fails after the alarm does not crash the process', async () => {
    const alarm = new FakeAlarm();
    let fail: (reason: Error) => void = () => undefined;
    const work = withTimeout(alarm.start, new Promise((_resolve, reject) => (fail = reject)));
    alarm.ring(new RangeError('too late'));
    fail(new Error('broken'));
    await expect(work).rejects.toThrow('too late');
  });
});

describe('work with a signal', () => {
  it.each(['before it begins', 'while it runs'])('fails with its reason when aborted %s', async (when) => {
    const reason = new Error('the reason');
    const deadline = new AbortController();
    if (when === 'before it begins') deadline.abort(reason);
    const work = withTimeout(deadline.signal, never());
    deadline.abort(reason);
    await expect(work).rejects.toBe(reason);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['succeeded', () => Promise.resolve('done')],
    ['failed', () => Promise.reject(new Error('broken'))],
  ])('leaves no listener once it %s', async (_how, work) => {
    const { signal } = new AbortController();
    const ended = withTimeout(signal, work()).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await ended;
    await settled();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('leaves no listener once it timed out', async () => {
    const deadline = new AbortController();
    const work = withTimeout(deadline.signal, never());
    deadline.abort();
    await expect(work).rejects.toBe(deadline.signal.reason);
    expect(getEventListeners(deadline.signal, 'abort')).toHaveLength(0);
  });
});
