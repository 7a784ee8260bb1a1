import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { useDeferredValue, useLayoutEffect, useRef } from 'react';

/** No images and no media: an address in an answer must not be fetched without the reader's will. */
const ALLOWED_TAGS = (
  'p br hr blockquote h1 h2 h3 h4 h5 h6 ul ol li ' + 'strong em del code pre a table thead tbody tr th td'
).split(' ');
const ALLOWED_ATTR = ['href', 'title', 'start', 'align'];
const ALLOWED_URI_REGEXP = /^(?:https?:|mailto:)/i;

/** Shows an agent's Markdown, with everything taken out that could do more than be read. */
export function Markdown({ text }: { readonly text: string }) {
  const element = useRef<HTMLDivElement>(null);
  // While an answer streams in, a slow device may skip a few of its states.
  const shown = useDeferredValue(text);
  useLayoutEffect(() => element.current?.replaceChildren(safeFragment(shown)), [shown]);
  return <div className="a2a-markdown" ref={element} />;
}

function safeFragment(text: string): DocumentFragment {
  const html = marked.parse(text, { async: false, gfm: true, breaks: true });
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS,
    ALLOWED_ATTR,
    ALLOWED_URI_REGEXP,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll('a')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow';
  }
  // Whatever is too wide scrolls on its own, also by keyboard.
  for (const block of fragment.querySelectorAll('pre')) block.tabIndex = 0;
  return fragment;
}
