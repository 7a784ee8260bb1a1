import { type MouseEvent, useEffect, useRef } from 'react';

import { useLabels } from '../labels.js';
import { useBrowserLayoutEffect } from '../use-latest.js';
import { MarkdownView } from './markdown-view.js';

interface MarkdownProps {
  readonly text: string;
  /** More of it follows. */
  readonly isGrowing: boolean;
}

/** Time for which a button says that it has copied. */
const COPIED_MS = 3000;

/** Shows an agent's Markdown: text, and elements that can be read and nothing else. */
export function Markdown({ text, isGrowing }: MarkdownProps) {
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<MarkdownView>(undefined);
  const { copy, copied } = useLabels();

  useBrowserLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    view.current ??= new MarkdownView(current, copy);
    view.current.show(text, isGrowing);
  }, [text, isGrowing, copy]);
  useEffect(() => () => view.current?.close(), []);

  const onClick = ({ target }: MouseEvent): void => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('.a2a-copy') : null;
    const code = button?.parentElement?.querySelector('code')?.textContent;
    if (!button || code === undefined) return;
    navigator.clipboard.writeText(code).then(
      () => {
        button.textContent = copied;
        setTimeout(() => (button.textContent = copy), COPIED_MS);
      },
      () => undefined,
    );
  };
  return <div className="a2a-markdown" dir="auto" ref={element} onClick={onClick} />;
}
