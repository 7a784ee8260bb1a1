import { describe, expect, it } from 'vitest';
import { type Alarm, beforeAlarm, beforeDeadline } from '../../../src/domain/shared/deadline.js';

/** An alarm that goes off when a test says so. */
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

describe('work before an alarm', () => {
  it('gives its result and stops the alarm', async () => {
    const alarm = new FakeAlarm();
    expect(await beforeAlarm(Promise.resolve('done'), alarm.start, () => 'late')).toBe('done');
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it('fails for its own reason and stops the alarm', async () => {
    const alarm = new FakeAlarm();
    await expect(beforeAlarm(Promise.reject(new TypeError('broken')), alarm.start, () => 'late')).rejects.toThrow(
      'broken',
    );
    await expect.poll(() => alarm.stopped).toBe(1);
  });

  it('that is late gives what stands for it', async () => {
    const alarm = new FakeAlarm();
    const work = beforeAlarm(never(), alarm.start, () => 'late');
    alarm.ring();
    expect(await work).toBe('late');
  });

  it('that is late fails with the error that stands for it', async () => {
    const alarm = new FakeAlarm();
    const work = beforeAlarm(never(), alarm.start, () => {
      throw new RangeError('too late');
    });
    alarm.ring();
    await expect(work).rejects.toThrow('too late');
  });
});

describe('work before a deadline', () => {
  it('fails with the reason of the deadline unless another error stands for it', async () => {
    const reason = new Error('the reason');
    await expect(beforeDeadline(AbortSignal.abort(reason), never())).rejects.toBe(reason);
    const late = new Error('late');
    await expect(beforeDeadline(AbortSignal.abort(reason), never(), () => late)).rejects.toBe(late);
  });
});
