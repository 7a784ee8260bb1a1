import { ChildRow } from './child-row.js';
import { InlineNodes, type InlineSettings, setAttribute } from './inline-nodes.js';
import type { Reference } from './link-target.js';
import { type Block, cellsOf, MarkdownBlocks, shownKind } from './markdown-blocks.js';
import { parseInlines } from './markdown-inlines.js';
import { ONE_PIECE, type Pieces, piecesOfLines, sliceEnd, withInlines } from './pieces.js';

/** The time that all views take in one task, in milliseconds. */
const MAX_TASK_MS = 12;
/** The smallest beginning of a long paragraph that is not parsed again, in characters. */
const SETTLED_STEP = 1000;
/** A text of more characters keeps the direction of its beginning. */
const LONG = 1000;
/** The level of the chat's own title. */
const TITLE_LEVEL = 2;
/** A cell of more characters is not as narrow as its longest word. */
const LONG_CELL = 30;
/** Blocks of an answer that are laid out together. A browser skips those groups that are far from what is in view. */
const GROUP = 50;
const REMEMBERED_MS = 200;
/** Maximum length of the text before the first letter that decides about the direction of the whole. */
const MAX_UNDIRECTED = 8_000;
const CONTAINER = /^(?:div|ul|ol|blockquote|table)$/;
/** In a paragraph of more characters, a reference that is defined below it stays text. */
const MAX_AGAIN = 8000;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const LANGUAGE = /^[\w#+.-]{1,40}$/;

/** A paragraph, heading or cell as it is shown. */
interface Leaf {
  readonly text: string;
  readonly isGrowing: boolean;
  /** The beginning that is not parsed again, and the number of nodes it became. */
  readonly settled: string;
  readonly count: number;
  readonly pieces: Pieces;
}

export interface ViewSettings extends InlineSettings {
  /** On a block of code. */
  readonly copy: string;
  /** Names a table. */
  readonly table: string;
}

const UNSETTLED = { settled: '', count: 0, pieces: ONE_PIECE };

/**
 * Markdown in the page. As the text grows, no node is replaced that still says the same, so that selection, scroll
 * positions and focus survive. It creates elements by name and never parses markup: a text cannot become anything else.
 */
export class MarkdownView {
  readonly #element: HTMLElement;
  readonly #settings: ViewSettings;
  readonly #inlines: InlineNodes;
  #blocks = new MarkdownBlocks();
  /** The rendered state by element: leaves, and the number of settled children of each container. */
  #leaves = new WeakMap<Node, Leaf>();
  #settled = new WeakMap<Element, number>();
  /** True while nothing counts as settled. */
  #isAll = false;
  /** Leaves that show a reference as text, since it has no definition so far. */
  readonly #missed = new Set<HTMLElement>();
  /** Those of them that are still to be shown again, at the end. */
  #again: HTMLElement[] = [];
  #hasMissed = false;
  /** Groups that the browser has never laid out. */
  readonly #skipped = new Set<HTMLElement>();
  #target = '';
  #written = '';
  #isGrowing = true;
  /** True when what is shown was formatted as a complete text. */
  #isFinal = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #growing: Element | undefined;

  constructor(element: HTMLElement, settings: ViewSettings) {
    this.#element = element;
    this.#settings = settings;
    this.#inlines = new InlineNodes(settings);
    element.textContent = '';
    const onShown = ({ target, skipped }: Event & { readonly skipped?: boolean }): void => {
      if (!skipped) this.#skipped.delete(target as HTMLElement);
    };
    // Only Chromium lets this event bubble.
    element.addEventListener('contentvisibilityautostatechange', onShown, true);
  }

  /** Shows a text. The part that is too long for one task follows by itself. */
  show(text: string, isGrowing: boolean): void {
    this.#target = text;
    this.#isGrowing = isGrowing;
    this.#advance();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#inlines.close();
  }

  #advance(): void {
    clearTimeout(this.#timer);
    const text = this.#target;
    if (!text.startsWith(this.#written)) {
      this.#element.removeAttribute('dir');
      this.#isAll = true;
      this.#blocks = new MarkdownBlocks();
      this.#written = '';
    }
    const isShown = (): boolean =>
      this.#written === text && this.#isFinal !== this.#isGrowing && this.#again.length === 0;
    while (!isShown() && isInTime()) {
      const again = this.#again.pop();
      if (again !== undefined) {
        this.#showAgain(again);
        continue;
      }
      // A browser lays out the whole line of code each time, so a long one grows in large steps.
      const { growing } = this.#blocks;
      const code = growing?.kind === 'code' ? growing.text : '';
      const half = (code.length - code.lastIndexOf('\n')) / 2;
      this.#written = text.slice(0, sliceEnd(text, this.#written.length, half));
      this.#isFinal = !this.#isGrowing && this.#written === text;
      this.#write(!this.#isFinal);
      // Forces the layout now, so that its time counts for this task.
      if (!isShown()) void this.#element.offsetHeight;
    }
    if (!isShown()) this.#timer = setTimeout(() => this.#advance());
    else if (!this.#isGrowing) {
      this.#colour();
      this.#layOut();
    }
  }

  /** Lays out the groups of a complete text that were never in view once, so that a reader who goes there moves nothing. */
  #layOut(): void {
    for (const group of this.#skipped) {
      if (!isInTime()) return void (this.#timer = setTimeout(() => this.#layOut()));
      this.#skipped.delete(group);
      group.setAttribute('data-shown', '');
      void group.offsetHeight;
      // A browser remembers the size once it has shown the next frame.
      setTimeout(() => group.removeAttribute('data-shown'), REMEMBERED_MS);
    }
  }

  #write(isGrowing: boolean): void {
    const blocks = this.#blocks;
    blocks.write(this.#written, isGrowing);
    const before = this.#growing;
    this.#growing = isGrowing ? this.#element : undefined;
    this.#container(this.#element, blocks.root);
    if (before !== this.#growing) {
      before?.removeAttribute('data-growing');
      this.#growing?.setAttribute('data-growing', '');
    }
    this.#isAll = false;
    if (isGrowing || blocks.referenceCount === 0) return;
    this.#again = [...this.#missed].reverse();
    this.#missed.clear();
  }

  /** Shows a leaf whose references have been defined below it. */
  #showAgain(element: HTMLElement): void {
    const leaf = this.#leaves.get(element);
    if (leaf === undefined || leaf.text.length > MAX_AGAIN) return;
    this.#leaves.delete(element);
    this.#leaf(element, leaf.text, leaf.isGrowing);
  }

  #container(parent: Element, block: Block): void {
    const { children } = block;
    if (this.#isAll) parent.removeAttribute('dir');
    const size = parent === this.#element ? GROUP : Infinity;
    // The last one is always shown again, so that its group stays.
    const from = this.#isAll ? 0 : Math.min(this.#settled.get(parent) ?? 0, Math.max(0, children.length - 1));
    // The first group is in the element itself.
    const outer = new ChildRow(parent, from < size ? from : size + Math.floor(from / size) - 1);
    let group: ChildRow | undefined;
    for (let index = from; index < children.length; index += 1) {
      if (index >= size && (group === undefined || index % size === 0)) {
        group?.end();
        const element = outer.element('section', 'a2a-more');
        if (element.firstChild === null) this.#skipped.add(element);
        group = new ChildRow(element, index % size);
      }
      this.#block(group ?? outer, children[index] as Block);
    }
    group?.end();
    outer.end();
    this.#settled.set(parent, this.#blocks.settledCount(block));
  }

  #block(row: ChildRow, block: Block): void {
    const { text, children } = block;
    const isGrowing = block === this.#blocks.growing;
    const kind = shownKind(block, isGrowing);
    switch (kind) {
      case 'code':
        return this.#code(this.#codeIn(row), block, isGrowing);
      case 'table': {
        const rows = block.kind === kind ? children : [block];
        return this.#table(this.#tableIn(row), rows, block.align, isGrowing);
      }
      case 'rule':
        return void row.element('hr');
      case 'heading':
        // Below the chat's own title in the outline of the page.
        return this.#leaf(row.element(`h${Math.min(6, block.number + TITLE_LEVEL)}`), text, isGrowing);
      case 'quote':
        return this.#container(row.element('blockquote'), block);
      case 'item':
        return this.#container(row.element('li'), block);
      case 'list': {
        const list = row.element(block.number < 0 ? 'ul' : 'ol');
        setAttribute(list, 'start', block.number === 0 || block.number > 1 ? String(block.number) : '');
        return this.#container(list, block);
      }
      case 'document':
      case 'nothing':
      case 'paragraph':
      case 'row': {
        const paragraph = row.element('p');
        this.#leaf(paragraph, kind === 'nothing' ? '' : text, isGrowing);
        // A comment alone leaves nothing to show.
        paragraph.hidden = kind === 'nothing' || (!isGrowing && paragraph.firstChild === null);
      }
    }
  }

  #table(table: Element, [header, ...rows]: readonly Block[], align: readonly string[], isGrowing: boolean): void {
    const parts = new ChildRow(table);
    const head = new ChildRow(parts.element('thead')).element('tr');
    const width = this.#row(head, header, 'th', align, isGrowing && rows.length === 0);
    const body = parts.element('tbody');
    const from = this.#isAll ? 0 : Math.min(Math.max(0, body.childNodes.length - 1), rows.length);
    const lines = new ChildRow(body, from);
    for (let index = from; index < rows.length; index += 1) {
      const isLast = index === rows.length - 1;
      this.#row(lines.element('tr'), rows[index], 'td', align, isGrowing && isLast, width);
    }
    lines.end();
  }

  /** Shows a row, and returns the number of its cells. */
  #row(
    row: Element,
    block: Block | undefined,
    tag: string,
    align: readonly string[],
    isGrowing: boolean,
    width = Infinity,
  ): number {
    const written = cellsOf(block?.text ?? '');
    const cells = width === Infinity ? written : Array.from({ length: width }, (_, index) => written[index] ?? '');
    const shown = new ChildRow(row);
    for (const [index, text] of cells.entries()) {
      const cell = shown.element(tag);
      this.#leaf(cell, text, isGrowing && index === Math.min(written.length, cells.length) - 1);
      setAttribute(cell, 'align', align[index]);
      setAttribute(cell, 'class', isShort(text) ? 'a2a-short' : text.length > LONG_CELL ? 'a2a-long' : '');
    }
    shown.end();
    return cells.length;
  }

  #tableIn(row: ChildRow): Element {
    const frame = row.element('div', 'a2a-table');
    // A wide element scrolls, also by keyboard.
    frame.tabIndex = 0;
    setAttribute(frame, 'role', 'group');
    setAttribute(frame, 'aria-label', this.#settings.table);
    return new ChildRow(frame).element('table');
  }

  #codeIn(row: ChildRow): HTMLElement {
    const frame = row.element('div', 'a2a-code');
    if (frame.firstChild === null) {
      const parts = new ChildRow(frame);
      const pre = parts.element('pre');
      pre.tabIndex = 0;
      pre.dir = 'ltr';
      new ChildRow(pre).element('code');
      if ('clipboard' in navigator) {
        const button = parts.element('button', 'a2a-copy') as HTMLButtonElement;
        button.type = 'button';
        // Shown by the stylesheet, so that a selection does not contain it.
        button.setAttribute('aria-label', this.#settings.copy);
      }
    }
    return frame.firstChild?.firstChild as HTMLElement;
  }

  #code(code: HTMLElement, { text, language }: Block, isGrowing: boolean): void {
    if (isGrowing) this.#growing = lastPiece(code);
    if (this.#leaves.get(code)?.text === text) return;
    setAttribute(code, 'class', LANGUAGE.test(language) ? `language-${language}` : '');
    if (code.firstElementChild?.localName === 'span') code.textContent = '';
    const row = new ChildRow(code);
    for (const [index, piece] of piecesOfLines(text).entries())
      (index === 0 ? row : new ChildRow(row.element('div'))).text(piece, false);
    row.end();
    if (isGrowing) this.#growing = lastPiece(code);
    this.#leaves.set(code, { text, isGrowing, ...UNSETTLED });
  }

  /** Shows the text of a paragraph, heading or cell. */
  #leaf(element: HTMLElement, text: string, isGrowing: boolean): void {
    if (isGrowing) this.#growing = lastPiece(element);
    const before = this.#isAll ? undefined : this.#leaves.get(element);
    if (before?.text === text && before.isGrowing === isGrowing) return;
    this.#direct(element, text, before === undefined);
    const known = before !== undefined && text.startsWith(before.settled) ? before : UNSETTLED;
    const { settled, count } = known;
    this.#hasMissed = false;
    const { inlines, settledLength, settledCount } = parseInlines(text, settled.length, {
      isGrowing,
      reference: this.#reference,
      isLink: this.#isLink,
      isCell: /^T[HD]$/.test(element.tagName),
    });
    if (this.#hasMissed) this.#missed.add(element);
    const pieces = withInlines(known.pieces, count, inlines.slice(0, settledCount));
    const all = withInlines(pieces, count + settledCount, inlines.slice(settledCount));
    this.#inlines.show(element, count, inlines, all.starts);
    if (isGrowing) this.#growing = lastPiece(element);
    const isStep = settledLength >= settled.length + SETTLED_STEP;
    const now = isStep ? { settled: text.slice(0, settledLength), count: count + settledCount, pieces } : known;
    this.#leaves.set(element, { ...now, text, isGrowing });
  }

  readonly #reference = (label: string): Reference | undefined => {
    const reference = this.#blocks.reference(label);
    this.#hasMissed ||= reference === undefined;
    return reference;
  };

  readonly #isLink = (href: string, isImage: boolean): boolean => this.#inlines.isLink(href, isImage);

  /**
   * Each text has the direction of its first letter, and so has what contains it, by its first text. With "auto" adding a
   * node takes time that grows with the number of its siblings, so a long text has a fixed one.
   */
  #direct(leaf: HTMLElement, text: string, isNew: boolean): void {
    // The marker of an item is on the side where its first paragraph begins.
    const { parentElement: item } = leaf;
    const host = item?.localName === 'li' && item.firstChild === leaf ? item : leaf;
    if (isNew) host.dir = 'auto';
    if (text.length > LONG && host.dir === 'auto') host.dir = directionOf(text) ?? 'ltr';
    for (let { parentElement: parent } = host; parent !== null; { parentElement: parent } = parent) {
      // A new direction restyles everything in it.
      if (parent === this.#element && this.#written.length > MAX_UNDIRECTED) break;
      const direction = parent.dir === '' && CONTAINER.test(parent.localName) ? directionOf(text) : undefined;
      if (direction !== undefined) parent.dir = direction;
      if (parent === this.#element) break;
    }
  }

  #colour(): void {
    if (this.#element.querySelector('code[class]:not([data-coloured])') === null) return;
    import('./highlight.js').then(
      ({ highlight }) => highlight(this.#element),
      () => undefined,
    );
  }
}

/** The direction of the first letter outside of code and tags. */
function directionOf(text: string): 'ltr' | 'rtl' | undefined {
  const [letter] = /\p{L}/u.exec(text.slice(0, LONG).replace(/`[^`]*`?|<[^>]*>?/g, '')) ?? [];
  if (letter === undefined) return undefined;
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}

/** True for a number, a date or an amount, which stays on one line. */
function isShort(cell: string): boolean {
  return cell.length < 20 && /\p{N}/u.test(cell);
}

let deadline: number | undefined;

/** True as long as the current task may format more. */
function isInTime(): boolean {
  if (deadline === undefined) setTimeout(() => (deadline = undefined));
  deadline ??= performance.now() + MAX_TASK_MS;
  return performance.now() < deadline;
}

/** The block of a paragraph that is written last. */
function lastPiece(leaf: Element): Element {
  const { lastChild } = leaf;
  return lastChild instanceof HTMLDivElement ? lastChild : leaf;
}
