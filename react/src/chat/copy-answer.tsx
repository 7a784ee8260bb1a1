import { useEffect, useState } from 'react';

import { icon } from '../icons.js';
import { useAnswerLabels } from './answer-labels.js';

const CopyIcon = icon(<path d="M9 9h10.5v10.5H9Zm-3.5 6h-1V4.5H15v1" />);

/** Time for which the button says that it has copied, or could not. */
const SAID_MS = 3000;

/** Copies a whole answer, as Markdown. Browsers have a clipboard on https only. */
export function CopyAnswer({ text }: { readonly text: string }) {
  const { copyAnswer, copied, cannotCopy } = useAnswerLabels();
  const [said, say] = useState('');
  useEffect(() => {
    const timer = said === '' ? undefined : setTimeout(say, SAID_MS, '');
    return () => clearTimeout(timer);
  }, [said]);
  if (!('clipboard' in navigator)) return null;
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => say(copied),
      () => say(cannotCopy),
    );
  return (
    <button
      type="button"
      className="a2a-icon-button a2a-copy-answer"
      aria-label={said || copyAnswer}
      title={copyAnswer}
      onClick={copy}
    >
      <CopyIcon />
      {said}
    </button>
  );
}
