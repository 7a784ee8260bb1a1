import { useEffect, useReducer } from 'react';

import type { ChatError } from '../chat-error.js';
import { fill, useLabels } from '../labels.js';

interface RetryButtonProps {
  readonly error: ChatError | undefined;
  readonly onRetry: () => void;
}

/** The end of the requested pause, in milliseconds on the page's monotonic clock. */
const ends = new WeakMap<ChatError, number>();

/**
 * Repeats the failed attempt; counts down first if the site requested a pause. Reloads the page if its own code failed.
 */
export function RetryButton({ error, onRetry }: RetryButtonProps) {
  const { retry, retryIn, reload } = useLabels();
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  const seconds = secondsLeft(error);
  const isWaiting = seconds > 0;
  useEffect(() => {
    const timer = isWaiting ? setInterval(tick, 1000) : undefined;
    return () => clearInterval(timer);
  }, [error, isWaiting]);
  if (error?.code === 'page_failed')
    return (
      <button type="button" className="a2a-button" onClick={() => location.reload()}>
        {reload}
      </button>
    );
  return (
    <button type="button" className="a2a-button" disabled={isWaiting} onClick={onRetry}>
      {isWaiting ? fill(retryIn, { seconds: String(seconds) }) : retry}
    </button>
  );
}

/** By the clock, because the timers of a hidden page are late. */
function secondsLeft(error: ChatError | undefined): number {
  if (error?.retryAfterMs === undefined) return 0;
  const end = ends.get(error) ?? performance.now() + error.retryAfterMs;
  ends.set(error, end);
  return Math.ceil(Math.max(0, end - performance.now()) / 1000);
}
