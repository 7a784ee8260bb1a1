import { type MouseEvent, useDeferredValue, useEffect, useRef, useState } from 'react';

import { useLabels } from '../labels.js';
import { useBrowserLayoutEffect } from '../use-latest.js';
import type * as MarkdownFragment from './markdown-fragment.js';

type Renderer = typeof MarkdownFragment;

/** Kept once it is loaded, so that later messages are formatted from their first paint. */
let loaded: Renderer | undefined;

function useRenderer(): Renderer | undefined {
  const [renderer, setRenderer] = useState(loaded);
  useEffect(() => {
    // Without it, the text is still a text.
    if (renderer === undefined)
      import('./markdown-fragment.js').then(
        (module) => setRenderer((loaded = module)),
        () => undefined,
      );
  }, [renderer]);
  return renderer;
}

interface MarkdownProps {
  readonly text: string;
  /** More of it is to come. */
  readonly isGrowing: boolean;
}

/** Shows an agent's Markdown, with everything taken out that could do more than be read. */
export function Markdown({ text, isGrowing }: MarkdownProps) {
  const element = useRef<HTMLDivElement>(null);
  const renderer = useRenderer();
  const { copy, copied } = useLabels();
  // While an answer streams in, a slow device may skip a few of its states.
  const shown = useDeferredValue(text);
  const isWhole = !isGrowing && shown === text;

  useBrowserLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    current.replaceChildren(renderer?.markdownFragment(shown) ?? shown);
    if (!isWhole || renderer === undefined) return;
    renderer.addCopyButtons(current, copy);
    if (current.querySelector('pre > code[class]') !== null)
      import('./highlight.js').then(
        ({ highlight }) => highlight(current),
        () => undefined,
      );
  }, [shown, isWhole, renderer, copy]);

  const onClick = ({ target }: MouseEvent): void => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('.a2a-copy') : null;
    const code = button?.parentElement?.querySelector('code')?.textContent;
    if (!button || code === undefined) return;
    navigator.clipboard.writeText(code).then(
      () => void (button.textContent = copied),
      () => undefined,
    );
  };
  return (
    <div className="a2a-markdown" dir="auto" data-plain={renderer === undefined} ref={element} onClick={onClick} />
  );
}
