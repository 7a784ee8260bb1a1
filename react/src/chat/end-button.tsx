import { type RefObject, useEffect, useRef, useState } from 'react';

import { icon } from '../icons.js';
import { useLatest } from '../use-latest.js';
import { useAnswerLabels } from './answer-labels.js';
import type { ChatMessage } from './chat-state.js';
import { FollowedEnd } from './followed-end.js';

const DownIcon = icon(<path d="M12 4.5v15m-6-6 6 6 6-6" />);

interface EndButtonProps {
  readonly last: ChatMessage | undefined;
  /** The element that scrolls, and the one that grows in it. */
  readonly log: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLElement | null>;
}

/** Keeps the end of the conversation in view; for a reader who has scrolled back, a button that goes there. */
export function EndButton({ last, log, content }: EndButtonProps) {
  const { toEnd, toNew } = useAnswerLabels();
  /** The end of the conversation when the reader left it; undefined for a reader who is there. */
  const [left, setLeft] = useState<string>();
  const end = last && `${last.id} ${last.text.length}`;
  const latest = useLatest(end);
  const following = useRef<FollowedEnd>(undefined);
  useEffect(() => {
    if (log.current === null || content.current === null) return undefined;
    const onAway = (isAway: boolean): void => setLeft(isAway ? latest.current : undefined);
    const followed = (following.current = new FollowedEnd(log.current, content.current, onAway));
    return () => followed.stop();
  }, [log, content, latest]);
  // A message just sent is scrolled into view.
  useEffect(() => {
    if (last?.role === 'user') following.current?.show();
  }, [last]);
  if (left === undefined) return null;
  const isNew = left !== end;
  const label = isNew ? toNew : toEnd;
  const show = (): void => {
    log.current?.focus({ preventScroll: true }); // the button will be gone
    following.current?.show();
  };
  return (
    <div className="a2a-end" aria-live="off">
      <button
        type="button"
        className="a2a-icon-button"
        aria-label={label}
        title={label}
        data-new={isNew}
        onClick={show}
      >
        <DownIcon />
      </button>
    </div>
  );
}
