import { wordEnd } from './bare-address.js';
import { visible } from './inline-text.js';

/** A text or an element inside a paragraph, a heading or a table cell. */
export type Inline = string | InlineElement;

export interface InlineElement {
  /** `span` for words of a cell that stay on one line. */
  readonly tag: 'strong' | 'em' | 'del' | 'code' | 'a' | 'img' | 'br' | 'span';
  /** Of a link or an image; undefined while the address is still being written. */
  readonly href?: string | undefined;
  readonly title?: string | undefined;
  readonly children: readonly Inline[];
}

export interface ParsedInlines {
  readonly inlines: readonly Inline[];
  /** No later text changes what comes before this offset. */
  readonly settledLength: number;
  /** The number of inlines before that offset; the last one is a text that ends there. */
  readonly settledCount: number;
}

export type Opening = Omit<InlineElement, 'children'>;

export interface Token {
  text: string;
  /** Offset of the text in the source; -1 if it differs from the source. */
  readonly start: number;
  readonly element: InlineElement | undefined;
  /** Elements that end before the text, and those that begin after it, outermost first. */
  closes: number;
  readonly opens: Opening[];
  /** Later text may change what this is. */
  isOpen: boolean;
}

/** The deepest nesting of elements. */
const MAX_DEPTH = 12;

/** The elements of a row of tokens that begins at `from` and ends at `end`. */
export function treeOf(tokens: readonly Token[], from: number, end: number): ParsedInlines {
  const root: Inline[] = [];
  const open: { readonly children: Inline[]; readonly isLink: boolean }[] = [{ children: root, isLink: false }];
  const latestSettled = end - 300;
  let settled = { length: from, token: -1, at: 0 };
  let depth = 0;
  for (const [index, { text, start, closes, opens, isOpen, element }] of tokens.entries()) {
    if (isOpen) break;
    depth -= closes;
    if (depth === 0 && start >= 0 && element === undefined) {
      const at = wordEnd(text, 0, Math.min(text.length, latestSettled - start));
      if (at > 0) settled = { length: start + at, token: index, at };
    }
    depth += opens.length;
  }
  let settledCount = 0;
  let mustSplit = false;
  const append = (inline: Inline): void => {
    const { children, isLink } = open[open.length - 1] as (typeof open)[0];
    const last = children[children.length - 1];
    if (typeof inline !== 'string' && isLink && isLinkTag(inline.tag)) inline.children.forEach(append);
    else if (typeof inline !== 'string') children.push(inline);
    else if (inline === '') return;
    else if (typeof last === 'string' && !mustSplit)
      children[children.length - 1] = last + (isLink ? visible(inline) : inline);
    else children.push(isLink ? visible(inline) : inline);
    mustSplit = false;
  };
  for (const [index, { text, closes, opens, element }] of tokens.entries()) {
    for (let count = closes; count > 0 && open.length > 1; count -= 1) open.pop();
    if (index === settled.token) {
      append(text.slice(0, settled.at));
      settledCount = root.length;
      mustSplit = true;
      append(text.slice(settled.at));
    } else {
      append(element ?? text);
    }
    for (const opening of opens) {
      const { children, isLink } = open[open.length - 1] as (typeof open)[0];
      // Links do not nest. An image is a link, too.
      if (open.length > MAX_DEPTH || (isLink && isLinkTag(opening.tag))) {
        open.push({ children, isLink });
        continue;
      }
      const inner: Inline[] = [];
      children.push({ ...opening, children: inner });
      mustSplit = false;
      open.push({ children: inner, isLink: isLink || isLinkTag(opening.tag) });
    }
  }
  return { inlines: root, settledLength: settled.length, settledCount };
}

function isLinkTag(tag: InlineElement['tag']): boolean {
  return tag === 'a' || tag === 'img';
}
