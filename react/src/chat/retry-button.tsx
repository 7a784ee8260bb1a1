import { useEffect, useState } from 'react';

import type { ChatError } from '../chat-error.js';
import { fill, useLabels } from '../labels.js';

interface RetryButtonProps {
  readonly error: ChatError | undefined;
  readonly onRetry: () => void;
}

/** Makes the failed attempt again; counts down first where the site asks to wait. Reloads a page whose own code failed. */
export function RetryButton({ error, onRetry }: RetryButtonProps) {
  const { retry, retryIn, reload } = useLabels();
  const [{ waitsFor, seconds }, setWait] = useState(() => waitOf(error));
  if (waitsFor !== error) setWait(waitOf(error));
  useEffect(() => {
    if (seconds <= 0) return undefined;
    const timer = setTimeout(() => setWait({ waitsFor: error, seconds: seconds - 1 }), 1000);
    return () => clearTimeout(timer);
  }, [error, seconds]);
  if (error?.code === 'page_failed')
    return (
      <button type="button" className="a2a-button" onClick={() => location.reload()}>
        {reload}
      </button>
    );
  return (
    <button type="button" className="a2a-button" disabled={seconds > 0} onClick={onRetry}>
      {seconds > 0 ? fill(retryIn, { seconds: String(seconds) }) : retry}
    </button>
  );
}

function waitOf(error: ChatError | undefined) {
  return { waitsFor: error, seconds: Math.ceil((error?.retryAfterMs ?? 0) / 1000) };
}
