import { describe, expect, it } from 'vitest';
import { type Alarm, beforeAlarm, beforeDeadline } from '../../../src/domain/shared/deadline.js';

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
  it("fails with the deadline's reason or its substitute error", async () => {
    const reason = new Error('the reason');
    await expect(beforeDeadline(AbortSignal.abort(reason), never())).rejects.toBe(reason);
    const late = new Error('late');
    await expect(beforeDeadline(AbortSignal.abort(reason), never(), () => late)).rejects.toBe(late);
  });
});
