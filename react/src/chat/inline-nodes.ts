import { fill } from '../labels.js';
import { ChildRow } from './child-row.js';
import type { Inline, InlineElement } from './inline-tree.js';
import { isLinkAddress, isOfSite, type LinksTo } from './link-address.js';

/** Images with their bytes, as an address. */
const IMAGE_DATA = /^data:(image\/[a-z\d+.-]{1,30});base64,/i;

export interface InlineSettings {
  readonly linksTo: LinksTo;
  /** True to open pages of the site in the same tab. */
  readonly isSameTab: boolean;
  /** Names a file without a name. */
  readonly file: string;
  /** On a file, with the placeholder `{file}`. */
  readonly download: string;
}

/** Writes the texts and elements of paragraphs. */
export class InlineNodes {
  readonly #settings: InlineSettings;
  /** The address of each image with its bytes, as the agent wrote it. */
  readonly #images = new WeakMap<Element, string>();
  readonly #addresses: string[] = [];
  #isClosed = false;

  constructor(settings: InlineSettings) {
    this.#settings = settings;
  }

  isLink(href: string, isImage: boolean): boolean {
    return isImage && IMAGE_DATA.test(href) ? true : isLinkAddress(href, this.#settings.linksTo);
  }

  /** The images that are shown cannot be loaded again. */
  close(): void {
    this.#isClosed = true;
    for (const address of this.#addresses.splice(0)) URL.revokeObjectURL(address);
  }

  /** Shows the inlines from an index on: the first piece is in the paragraph itself, each other one in a block. */
  show(parent: Element, from: number, inlines: readonly Inline[], starts: readonly number[]): void {
    const [, second = 0] = starts;
    let piece = starts.filter((start) => start <= from).length - 1;
    const outer = new ChildRow(parent, piece === 0 ? from : second + piece - 1);
    let row = piece === 0 ? outer : new ChildRow(outer.element('div'), from - (starts[piece] ?? 0));
    for (const [index, inline] of inlines.entries()) {
      if (from + index === starts[piece + 1]) {
        piece += 1;
        if (row !== outer) row.end();
        row = new ChildRow(outer.element('div'));
      }
      this.#inline(row, inline, inlines[index + 1]);
    }
    if (row !== outer) row.end();
    outer.end();
  }

  #inline(row: ChildRow, inline: Inline, next: Inline | undefined): void {
    if (typeof inline === 'string') return row.text(inline, typeof next === 'string');
    const { tag, href, title, children } = inline;
    // Showing an image of the web would fetch it without the reader's will.
    if (tag === 'img' && IMAGE_DATA.test(href ?? '')) return this.#image(row.element('picture'), inline);
    const element = row.element(tag === 'img' ? 'a' : tag);
    if (tag === 'a' || tag === 'img') this.#link(element, href, title);
    if (tag === 'code') element.dir = 'ltr';
    const inner = new ChildRow(element);
    for (const [index, child] of children.entries()) this.#inline(inner, child, children[index + 1]);
    inner.end();
  }

  #link(element: HTMLElement, href: string | undefined, title: string | undefined): void {
    const { linksTo, isSameTab } = this.#settings;
    const isHere = isSameTab && linksTo === 'site' && href !== undefined && isOfSite(href);
    setAttribute(element, 'target', isHere ? '' : '_blank');
    setAttribute(element, 'rel', isHere ? '' : 'noopener noreferrer nofollow');
    setAttribute(element, 'href', href);
    setAttribute(element, 'title', title);
  }

  /** An image that came with its bytes, or a way to save it where it cannot be shown. */
  #image(element: HTMLElement, { href = '', children }: InlineElement): void {
    if (this.#images.get(element) === href) return;
    this.#images.set(element, href);
    const [head = '', type = ''] = IMAGE_DATA.exec(href) ?? [];
    const base64 = href.slice(head.length);
    const name = textOf(children) || this.#settings.file;
    const download = fill(this.#settings.download, { file: name });
    import('./inline-image.js').then(
      ({ showImage }) => {
        if (this.#images.get(element) !== href || this.#isClosed) return;
        const address = showImage(element, { base64, type, name, download });
        if (address !== undefined) this.#addresses.push(address);
      },
      () => (element.textContent = name),
    );
  }
}

function textOf(inlines: readonly Inline[]): string {
  return inlines.map((inline) => (typeof inline === 'string' ? inline : textOf(inline.children))).join('');
}

export function setAttribute(element: Element, name: string, value = ''): void {
  if (value === '') element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
