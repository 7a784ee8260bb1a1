import { useEffect, useState } from 'react';

import type { ChatError } from '../chat-error.js';
import { fill, useLabels } from '../labels.js';

interface RetryButtonProps {
  readonly error: ChatError | undefined;
  readonly onRetry: () => void;
}

/** Makes the failed attempt again; counts down first where the site asks to wait. */
export function RetryButton({ error, onRetry }: RetryButtonProps) {
  const { retry, retryIn } = useLabels();
  const [{ waitsFor, now, until }, setWait] = useState(() => waitOf(error));
  if (waitsFor !== error) setWait(waitOf(error));
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  useEffect(() => {
    if (seconds === 0) return undefined;
    // Timers of a hidden page are late, and a sleeping computer has none; a clock that is set back must not add to the wait.
    const tick = (): void => setWait((wait) => ({ ...wait, now: Math.max(wait.now + 1000, Date.now()) }));
    const timer = setTimeout(tick, 1000);
    return () => clearTimeout(timer);
  }, [error, seconds]);
  return (
    <button type="button" className="a2a-button" disabled={seconds > 0} onClick={onRetry}>
      {seconds > 0 ? fill(retryIn, { seconds: String(seconds) }) : retry}
    </button>
  );
}

function waitOf(error: ChatError | undefined) {
  const now = Date.now();
  return { waitsFor: error, now, until: now + (error?.retryAfterMs ?? 0) };
}
