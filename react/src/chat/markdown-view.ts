import { type Block, cellsOf, MarkdownBlocks, shownKind } from './markdown-blocks.js';
import type { Inline, InlineElement } from './inline-tree.js';
import { parseInlines, type Reference } from './markdown-inlines.js';
import { ONE_PIECE, type Pieces, piecesOfLines, sliceEnd, withInlines } from './pieces.js';

/** The time that all views take in one task, in milliseconds. */
const MAX_TASK_MS = 12;
/** The smallest beginning of a long paragraph that is not parsed again, in characters. */
const SETTLED_STEP = 1000;
/** A text of more characters keeps the direction of its beginning. */
const LONG = 1000;
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

const UNSETTLED = { settled: '', count: 0, pieces: ONE_PIECE };

/**
 * Markdown in the page. As the text grows, no node is replaced that still says the same, so that selection, scroll
 * positions and focus survive. It creates elements by name and never parses markup: a text cannot become anything else.
 */
export class MarkdownView {
  readonly #element: HTMLElement;
  readonly #copyLabel: string;
  #blocks = new MarkdownBlocks();
  /** The rendered state by element: leaves, and the number of settled children of each container. */
  #leaves = new WeakMap<Node, Leaf>();
  #settled = new WeakMap<Element, number>();
  /** True while nothing counts as settled. */
  #isAll = false;
  /** Leaves that show a reference as text, since it has no definition so far. */
  readonly #missed = new Set<Element>();
  /** Those of them that are still to be shown again, at the end. */
  #again: Element[] = [];
  #hasMissed = false;
  #target = '';
  #written = '';
  #isGrowing = true;
  /** True when what is shown was formatted as a complete text. */
  #isFinal = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #growing: Element | undefined;

  constructor(element: HTMLElement, copyLabel: string) {
    this.#element = element;
    this.#copyLabel = copyLabel;
    element.textContent = '';
  }

  /** Shows a text. The part that is too long for one task follows by itself. */
  show(text: string, isGrowing: boolean): void {
    this.#target = text;
    this.#isGrowing = isGrowing;
    this.#advance();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #advance(): void {
    this.close();
    const text = this.#target;
    if (!text.startsWith(this.#written)) {
      this.#element.dir = 'auto';
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
      this.#written = text.slice(0, sliceEnd(text, this.#written.length));
      this.#isFinal = !this.#isGrowing && this.#written === text;
      this.#write(!this.#isFinal);
      if (this.#written.length > LONG && this.#element.dir === 'auto') this.#element.dir = directionOf(this.#element);
      // Forces the layout now, so that its time counts for this task.
      if (!isShown()) void this.#element.offsetHeight;
    }
    if (!isShown()) this.#timer = setTimeout(() => this.#advance());
    else if (!this.#isGrowing) this.#colour();
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
  #showAgain(element: Element): void {
    const leaf = this.#leaves.get(element);
    if (leaf === undefined || leaf.text.length > MAX_AGAIN) return;
    this.#leaves.delete(element);
    this.#leaf(element, leaf.text, leaf.isGrowing);
  }

  #container(parent: Element, block: Block): void {
    const { children } = block;
    const from = this.#isAll ? 0 : Math.min(this.#settled.get(parent) ?? 0, parent.childNodes.length);
    const row = new ChildRow(parent, from);
    for (let index = from; index < children.length; index += 1) this.#block(row, children[index] as Block);
    row.end();
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
        return this.#table(row.element('table'), rows, block.align, isGrowing);
      }
      case 'rule':
        return void row.element('hr');
      case 'heading':
        return this.#leaf(row.element(`h${block.level}`), text, false);
      case 'quote':
        return this.#container(row.element('blockquote'), block);
      case 'item':
        return this.#container(row.element('li'), block);
      case 'list': {
        const list = row.element(block.number < 0 ? 'ul' : 'ol');
        if (block.number === 0 || block.number > 1) list.setAttribute('start', String(block.number));
        return this.#container(list, block);
      }
      case 'document':
      case 'nothing':
      case 'paragraph':
      case 'row': {
        const paragraph = row.element('p');
        paragraph.hidden = kind === 'nothing';
        this.#leaf(paragraph, paragraph.hidden ? '' : asTask(text), isGrowing);
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
    const cells = cellsOf(block?.text ?? '').slice(0, width);
    const shown = new ChildRow(row);
    for (const [index, text] of cells.entries()) {
      const cell = shown.element(tag);
      const side = align[index];
      if (side) cell.setAttribute('align', side);
      this.#leaf(cell, text, isGrowing && index === cells.length - 1);
    }
    shown.end();
    return cells.length;
  }

  #codeIn(row: ChildRow): HTMLElement {
    const frame = row.element('div', 'a2a-code');
    if (frame.firstChild === null) {
      const parts = new ChildRow(frame);
      const pre = parts.element('pre');
      // A wide element scrolls, also by keyboard.
      pre.tabIndex = 0;
      pre.dir = 'ltr';
      new ChildRow(pre).element('code');
      if ('clipboard' in navigator) {
        const button = parts.element('button', 'a2a-copy') as HTMLButtonElement;
        button.type = 'button';
        button.textContent = this.#copyLabel;
      }
    }
    return frame.firstChild?.firstChild as HTMLElement;
  }

  #code(code: HTMLElement, { text, language }: Block, isGrowing: boolean): void {
    if (isGrowing) this.#growing = lastPiece(code);
    if (this.#leaves.get(code)?.text === text) return;
    if (LANGUAGE.test(language)) code.className = `language-${language}`;
    if (code.firstElementChild?.localName === 'span') code.textContent = '';
    const row = new ChildRow(code);
    for (const [index, piece] of piecesOfLines(text).entries())
      (index === 0 ? row : new ChildRow(row.element('div'))).text(piece, false);
    row.end();
    if (isGrowing) this.#growing = lastPiece(code);
    this.#leaves.set(code, { text, isGrowing, ...UNSETTLED });
  }

  #leaf(element: Element, text: string, isGrowing: boolean): void {
    if (isGrowing) this.#growing = lastPiece(element);
    const before = this.#isAll ? undefined : this.#leaves.get(element);
    if (before?.text === text && before.isGrowing === isGrowing) return;
    const known = before !== undefined && text.startsWith(before.settled) ? before : UNSETTLED;
    const { settled, count } = known;
    this.#hasMissed = false;
    const { inlines, settledLength, settledCount } = parseInlines(text, settled.length, {
      isGrowing,
      reference: this.#reference,
    });
    if (this.#hasMissed) this.#missed.add(element);
    const pieces = withInlines(known.pieces, count, inlines.slice(0, settledCount));
    const all = withInlines(pieces, count + settledCount, inlines.slice(settledCount));
    showPieces(element, count, inlines, all.starts);
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

  #colour(): void {
    if (this.#element.querySelector('code[class]:not([data-coloured])') === null) return;
    import('./highlight.js').then(
      ({ highlight }) => highlight(this.#element),
      () => undefined,
    );
  }
}

/**
 * The direction that `dir="auto"` would have. With "auto", adding a node takes time that grows with the number of its
 * siblings.
 */
function directionOf(element: Element): 'ltr' | 'rtl' {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode as Text;
    const [letter] = /\p{L}/u.exec(data) ?? [];
    if (letter !== undefined && parentElement?.closest('pre') === null)
      return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
  }
  return 'ltr';
}

let deadline: number | undefined;

/** True as long as the current task may format more. */
function isInTime(): boolean {
  if (deadline === undefined) setTimeout(() => (deadline = undefined));
  deadline ??= performance.now() + MAX_TASK_MS;
  return performance.now() < deadline;
}

/** Writes the children of an element in their order: after each change, a browser counts an index from the first child. */
class ChildRow {
  readonly #parent: Element;
  #next: ChildNode | null;

  constructor(parent: Element, from = 0) {
    this.#parent = parent;
    this.#next = parent.childNodes[from] ?? null;
  }

  /** The next child, when it has that name; a new one in its place otherwise. */
  element(tag: string, className = ''): HTMLElement {
    const child = this.#next;
    if (child instanceof HTMLElement && child.localName === tag) {
      this.#next = child.nextSibling;
      return child;
    }
    const element = document.createElement(tag);
    if (className !== '') element.className = className;
    this.#put(element);
    return element;
  }

  /** Shows a text by changing as little as possible of the one that is there. */
  text(text: string, isSplit: boolean): void {
    const child = this.#next;
    if (!(child instanceof Text)) return this.#put(document.createTextNode(text));
    const { data } = child;
    if (text.startsWith(data)) {
      if (text.length > data.length) child.appendData(text.slice(data.length));
    } else if (isSplit && data.startsWith(text)) {
      // The rest of the node becomes the next one.
      child.splitText(text.length);
    } else {
      let same = 0;
      while (same < text.length && data[same] === text[same]) same += 1;
      child.replaceData(same, data.length - same, text.slice(same));
    }
    this.#next = child.nextSibling;
  }

  /** Removes the children that are left. */
  end(): void {
    for (let child = this.#next; child !== null; child = this.#next) {
      this.#next = child.nextSibling;
      child.remove();
    }
  }

  #put(node: ChildNode): void {
    if (this.#next === null) this.#parent.append(node);
    else this.#next.replaceWith(node);
    this.#next = node.nextSibling;
  }
}

/** Shows the inlines of a paragraph from an index on: the first piece is in the paragraph itself, each other one in a block. */
function showPieces(parent: Element, from: number, inlines: readonly Inline[], starts: readonly number[]): void {
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
    showInline(row, inline, inlines[index + 1]);
  }
  if (row !== outer) row.end();
  outer.end();
}

function showInline(row: ChildRow, inline: Inline, next: Inline | undefined): void {
  if (typeof inline === 'string') row.text(inline, typeof next === 'string');
  else showElement(row.element(inline.tag), inline);
}

/** The block of a paragraph that is written last. */
function lastPiece(leaf: Element): Element {
  const { lastChild } = leaf;
  return lastChild instanceof HTMLDivElement ? lastChild : leaf;
}

function showElement(element: HTMLElement, { tag, href, title, children }: InlineElement): void {
  if (tag === 'a') {
    setAttribute(element, 'href', href);
    setAttribute(element, 'title', title);
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  const row = new ChildRow(element);
  for (const [index, child] of children.entries()) showInline(row, child, children[index + 1]);
  row.end();
}

function setAttribute(element: Element, name: string, value = ''): void {
  if (value === '') element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** The box of a task list as a character. */
function asTask(text: string): string {
  return text.replace(/^\[([ xX])\] /, (_box, mark: string) => (mark === ' ' ? '☐ ' : '☑ '));
}
