import DOMPurify from 'dompurify';
import { Marked } from 'marked';

/** No images and no media: an address in an answer must not be fetched without the reader's will. */
const ALLOWED_TAGS = (
  'p br hr blockquote h1 h2 h3 h4 h5 h6 ul ol li ' + 'strong em del code pre a table thead tbody tr th td'
).split(' ');
/** What may begin with "<" in an agent's text: tags that are allowed, without attributes. */
const NO_TAG = new RegExp(`<(?!/?(?:${ALLOWED_TAGS.join('|')}) ?/?>)`, 'gi');
const ALLOWED_ATTR = ['href', 'title', 'start', 'align', 'class'];
/** Addresses that read as what they are: a browser takes `https:/path` and `https:path` for paths of the site. */
const ALLOWED_URI_REGEXP = /^(?:https?:\/\/|mailto:)/i;
/** Characters that make a text read in another order than it is written, and controls. */
const DISGUISE = /\p{Bidi_Control}|[^\P{Cc}\n\t]/gu;
const LANGUAGE = /^language-[\w#+.-]+$/;

const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Other HTML is shown as the text it is. Only to parse it, as a sanitiser does, would already break a strict policy.
    html: ({ text }) => text.replaceAll(/<!--[\s\S]*?-->/g, '').replaceAll(NO_TAG, '&lt;'),
  },
});

/** Markdown as elements that can be read and nothing else. */
export function markdownFragment(text: string): DocumentFragment {
  const html = markdown.parse(text, { async: false });
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
    showAsWritten(link);
  }
  for (const element of fragment.querySelectorAll('[class]')) {
    if (element.localName !== 'code' || !LANGUAGE.test(element.className)) element.removeAttribute('class');
  }
  for (const block of fragment.querySelectorAll('pre')) {
    // Whatever is too wide scrolls on its own, also by keyboard.
    block.tabIndex = 0;
    block.dir = 'ltr';
    const frame = document.createElement('div');
    frame.className = 'a2a-code';
    block.replaceWith(frame);
    frame.append(block);
  }
  return fragment;
}

/** Lets the text and title of a link appear in the order they are written in, whatever they or the text around contain. */
function showAsWritten(link: HTMLAnchorElement): void {
  link.dir = 'auto'; // which also isolates it from the text around
  if (link.title !== '') link.title = link.title.replaceAll(DISGUISE, '');
  const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) (texts.currentNode as Text).data = (texts.currentNode as Text).data.replaceAll(DISGUISE, '');
}

/** Puts a button on every block of code, where the browser lets a page write to the clipboard. */
export function addCopyButtons(element: Element, label: string): void {
  if (!('clipboard' in navigator)) return;
  for (const frame of element.querySelectorAll('.a2a-code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'a2a-copy';
    button.textContent = label;
    frame.append(button);
  }
}
