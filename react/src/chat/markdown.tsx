import { type MouseEvent, useContext, useEffect, useRef } from 'react';

import { useBrowserLayoutEffect } from '../use-latest.js';
import { useAnswerLabels } from './answer-labels.js';
import { LinksContext } from './links-context.js';
import { MarkdownView } from './markdown-view.js';

interface MarkdownProps {
  readonly text: string;
  /** More of it follows. */
  readonly isGrowing: boolean;
}

/** Time for which a button says that it has copied, or could not. */
const COPIED_MS = 3000;

/** Shows an agent's Markdown: text, and elements that can be read and nothing else. */
export function Markdown({ text, isGrowing }: MarkdownProps) {
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<MarkdownView>(undefined);
  const { copy, copied, cannotCopy, table, file, download } = useAnswerLabels();
  const { linksTo, isSameTab } = useContext(LinksContext);

  useBrowserLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    view.current ??= new MarkdownView(current, { copy, table, file, download, linksTo, isSameTab });
    view.current.show(text, isGrowing);
  }, [text, isGrowing, copy, table, file, download, linksTo, isSameTab]);
  useEffect(
    () => () => {
      view.current?.close();
      view.current = undefined;
    },
    [],
  );

  const onClick = ({ target }: MouseEvent): void => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('.a2a-copy') : null;
    const code = button?.parentElement?.querySelector('code')?.textContent;
    if (!button || code === undefined) return;
    const say = (label: string): void => {
      button.setAttribute('aria-label', label);
      setTimeout(() => button.setAttribute('aria-label', copy), COPIED_MS);
    };
    // A frame may not have the permission.
    navigator.clipboard.writeText(code).then(
      () => say(copied),
      () => say(cannotCopy),
    );
  };
  return <div className="a2a-markdown" ref={element} onClick={onClick} />;
}
