import { describe, expect, it } from 'vitest';
import { StallCounter, type StallWatched } from '../../../src/domain/shared/stall-counter.js';

type State = ReturnType<StallWatched['look']>;

/** A counter with a limit of 400 ms and the last timer it started. */
function counting() {
  let timer: (() => void) | undefined;
  let state: State = 'still';
  const spans: number[] = [];
  let stalls = 0;
  const watched: StallWatched = { look: () => state, onStalled: () => (stalls += 1) };
  const counter = new StallCounter(watched, 400, (task, ms) => {
    spans.push(ms);
    timer = task;
    return () => (timer = undefined);
  });
  return {
    counter,
    spans,
    stalls: () => stalls,
    isWaiting: () => timer !== undefined,
    look: (next: State) => {
      state = next;
      const task = timer;
      timer = undefined;
      task?.();
    },
  };
}

describe('a stall counter', () => {
  it('reports one stall after four checks without progress', () => {
    const { counter, spans, stalls, look, isWaiting } = counting();
    counter.begin();
    for (let count = 0; count < 3; count += 1) look('still');
    expect([stalls(), isWaiting()]).toEqual([0, true]);
    look('still');
    expect([stalls(), isWaiting(), counter.isRunning]).toEqual([1, false, false]);
    expect(spans).toEqual([100, 100, 100, 100]);
  });

  it('counts from the last progress', () => {
    const { counter, stalls, look } = counting();
    counter.begin();
    for (const state of ['still', 'still', 'still', 'moved', 'still', 'still', 'still'] as const) look(state);
    expect(stalls()).toBe(0);
    look('still');
    expect(stalls()).toBe(1);
  });

  it('stops when nothing is left to watch, then starts again from zero', () => {
    const { counter, stalls, look, isWaiting } = counting();
    counter.begin();
    for (const state of ['still', 'still', 'still', 'done'] as const) look(state);
    expect([counter.isRunning, isWaiting()]).toEqual([false, false]);
    counter.begin();
    for (let count = 0; count < 3; count += 1) look('still');
    expect(stalls()).toBe(0);
  });

  it('starts one timer and leaves none behind', () => {
    const { counter, spans, isWaiting } = counting();
    counter.end();
    counter.begin();
    counter.begin();
    expect(spans).toEqual([100]);
    counter.end();
    expect([counter.isRunning, isWaiting()]).toEqual([false, false]);
  });
});
