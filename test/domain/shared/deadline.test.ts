import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type Alarm, beforeAlarm, beforeDeadline } from '../../../src/domain/shared/deadline.js';
import { settled } from '../credentials/token-fixture.js';

/** An alarm triggered by the test. */
class FakeAlarm {
  stopped = 0;
  ring: () => void = () => undefined;

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
    expect(await beforeAlarm(Promise.resolve('done'), alarm.start, () => 'late')).toBe('done');
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it('fails with its own error and stops the alarm', async () => {
    const alarm = new FakeAlarm();
    await expect(beforeAlarm(Promise.reject(new TypeError('broken')), alarm.start, () => 'late')).rejects.toThrow(
      'broken',
    );
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it('returns its substitute when late', async () => {
    const alarm = new FakeAlarm();
    const work = beforeAlarm(never(), alarm.start, () => 'late');
    alarm.ring();
    expect(await work).toBe('late');
  });

  it('fails with its substitute error when late', async () => {
    const alarm = new FakeAlarm();
    const work = beforeAlarm(never(), alarm.start, () => {
      throw new RangeError('too late');
    });
    alarm.ring();
    await expect(work).rejects.toThrow('too late');
  });
});

describe('work with a deadline', () => {
  const reason = new Error('the reason');
  const late = new Error('late');

  it.each([
    ['before it begins', undefined, reason],
    ['before it begins', () => late, late],
    ['while it runs', undefined, reason],
    ['while it runs', () => late, late],
  ])("fails with the deadline's reason or its substitute error when late %s", async (when, substitute, expected) => {
    const deadline = new AbortController();
    if (when === 'before it begins') deadline.abort(reason);
    const work = beforeDeadline(deadline.signal, never(), substitute);
    deadline.abort(reason);
    await expect(work).rejects.toBe(expected);
  });

  it('leaves the deadline alone once it is done', async () => {
    const { signal } = new AbortController();
    const work = beforeDeadline(signal, Promise.resolve('done'));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(await work).toBe('done');
    await settled();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
