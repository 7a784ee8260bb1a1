import { type Block, cellsOf, MarkdownBlocks, shownKind } from './markdown-blocks.js';
import type { Inline, InlineElement } from './inline-tree.js';
import { parseInlines, type Reference } from './markdown-inlines.js';

/** The characters formatted at once, and the time that all views take in one task, in milliseconds. */
const SLICE = 8000;
const MAX_TASK_MS = 12;
/** The smallest beginning of a long paragraph that is not parsed again, in characters. */
const SETTLED_STEP = 1000;
/** More new text than this, in characters, is written without looking for its direction meanwhile. */
const LONG = 1000;
const LANGUAGE = /^[\w#+.-]{1,40}$/;

/** A paragraph, heading or cell as it is shown. */
interface Leaf {
  readonly text: string;
  readonly isGrowing: boolean;
  /** The beginning that is not parsed again, and the number of nodes it became. */
  readonly settled: string;
  readonly count: number;
}

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
  /** True when a reference was shown as text, since it has no definition so far. */
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
      this.#isAll = true;
      this.#blocks = new MarkdownBlocks();
      this.#written = '';
    }
    const isShown = (): boolean => this.#written === text && this.#isFinal !== this.#isGrowing;
    while (!isShown() && isInTime()) {
      const from = this.#isAll ? 0 : this.#written.length;
      this.#written = text.slice(0, this.#written.length + SLICE);
      this.#isFinal = !this.#isGrowing && this.#written === text;
      const isLong = this.#written.length - from > LONG;
      // "auto" searches all text before each new node until there is a letter: in a long list of numbers, for seconds.
      if (isLong) this.#element.dir = 'ltr';
      this.#write(!this.#isFinal);
      if (isLong) this.#element.dir = 'auto';
    }
    if (!isShown()) this.#timer = setTimeout(() => this.#advance());
    else if (!this.#isGrowing) this.#colour();
  }

  #write(isGrowing: boolean): void {
    const blocks = this.#blocks;
    blocks.write(this.#written, isGrowing);
    if (!isGrowing && this.#hasMissed && blocks.referenceCount > 0) this.#isAll = true;
    const before = this.#growing;
    this.#growing = isGrowing ? this.#element : undefined;
    this.#container(this.#element, blocks.root);
    if (before !== this.#growing) {
      before?.removeAttribute('data-growing');
      this.#growing?.setAttribute('data-growing', '');
    }
    this.#isAll = false;
  }

  #container(parent: Element, block: Block): void {
    const { children } = block;
    const from = this.#isAll ? 0 : Math.min(this.#settled.get(parent) ?? 0, parent.childNodes.length);
    for (let index = from; index < children.length; index += 1) this.#block(parent, index, children[index] as Block);
    removeFrom(parent, children.length);
    this.#settled.set(parent, this.#blocks.settledCount(block));
  }

  #block(parent: Element, index: number, block: Block): void {
    const { text, children } = block;
    const isGrowing = block === this.#blocks.growing;
    const kind = shownKind(block, isGrowing);
    switch (kind) {
      case 'code':
        return this.#code(this.#codeAt(parent, index), block, isGrowing);
      case 'table': {
        const rows = block.kind === kind ? children : [block];
        return this.#table(elementAt(parent, index, 'table'), rows, block.align, isGrowing);
      }
      case 'rule':
        return void elementAt(parent, index, 'hr');
      case 'heading':
        return this.#leaf(elementAt(parent, index, `h${block.level}`), text, false);
      case 'quote':
        return this.#container(elementAt(parent, index, 'blockquote'), block);
      case 'item':
        return this.#container(elementAt(parent, index, 'li'), block);
      case 'list': {
        const list = elementAt(parent, index, block.number < 0 ? 'ul' : 'ol');
        if (block.number === 0 || block.number > 1) list.setAttribute('start', String(block.number));
        return this.#container(list, block);
      }
      case 'document':
      case 'nothing':
      case 'paragraph':
      case 'row': {
        const paragraph = elementAt(parent, index, 'p');
        paragraph.hidden = kind === 'nothing';
        this.#leaf(paragraph, paragraph.hidden ? '' : asTask(text), isGrowing);
      }
    }
  }

  #table(table: Element, [header, ...rows]: readonly Block[], align: readonly string[], isGrowing: boolean): void {
    const head = elementAt(table, 0, 'thead');
    const width = this.#row(elementAt(head, 0, 'tr'), header, 'th', align, isGrowing && rows.length === 0);
    const body = elementAt(table, 1, 'tbody');
    const from = this.#isAll ? 0 : Math.min(Math.max(0, body.childNodes.length - 1), rows.length);
    for (let index = from; index < rows.length; index += 1) {
      const isLast = index === rows.length - 1;
      this.#row(elementAt(body, index, 'tr'), rows[index], 'td', align, isGrowing && isLast, width);
    }
    removeFrom(body, rows.length);
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
    for (const [index, text] of cells.entries()) {
      const cell = elementAt(row, index, tag);
      const side = align[index];
      if (side) cell.setAttribute('align', side);
      this.#leaf(cell, text, isGrowing && index === cells.length - 1);
    }
    removeFrom(row, cells.length);
    return cells.length;
  }

  #codeAt(parent: Element, index: number): HTMLElement {
    const frame = elementAt(parent, index, 'div', 'a2a-code');
    if (frame.firstChild === null) {
      const pre = elementAt(frame, 0, 'pre');
      // A wide element scrolls, also by keyboard.
      pre.tabIndex = 0;
      pre.dir = 'ltr';
      elementAt(pre, 0, 'code');
      if ('clipboard' in navigator) {
        const button = elementAt(frame, 1, 'button', 'a2a-copy') as HTMLButtonElement;
        button.type = 'button';
        button.textContent = this.#copyLabel;
      }
    }
    return frame.firstChild?.firstChild as HTMLElement;
  }

  #code(code: HTMLElement, { text, language }: Block, isGrowing: boolean): void {
    if (isGrowing) this.#growing = code;
    if (this.#leaves.get(code)?.text === text) return;
    if (LANGUAGE.test(language)) code.className = `language-${language}`;
    if (code.firstElementChild !== null) code.textContent = '';
    textAt(code, 0, text, false);
    this.#leaves.set(code, { text, isGrowing, settled: '', count: 0 });
  }

  #leaf(element: Element, text: string, isGrowing: boolean): void {
    if (isGrowing) this.#growing = element;
    const before = this.#isAll ? undefined : this.#leaves.get(element);
    if (before?.text === text && before.isGrowing === isGrowing) return;
    const isMore = before !== undefined && text.startsWith(before.settled);
    const { settled, count } = isMore ? before : { settled: '', count: 0 };
    const parsed = parseInlines(text, settled.length, { isGrowing, reference: this.#reference });
    showInlines(element, count, parsed.inlines);
    const isStep = parsed.settledLength >= settled.length + SETTLED_STEP;
    this.#leaves.set(element, {
      text,
      isGrowing,
      settled: isStep ? text.slice(0, parsed.settledLength) : settled,
      count: isStep ? count + parsed.settledCount : count,
    });
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

let deadline: number | undefined;

/** True as long as the current task may format more. */
function isInTime(): boolean {
  if (deadline === undefined) setTimeout(() => (deadline = undefined));
  deadline ??= performance.now() + MAX_TASK_MS;
  return performance.now() < deadline;
}

/** The child at an index, when it has that name; a new one in its place otherwise. */
function elementAt(parent: Element, index: number, tag: string, className = ''): HTMLElement {
  const child = parent.childNodes[index];
  if (child instanceof HTMLElement && child.localName === tag) return child;
  const element = document.createElement(tag);
  if (className !== '') element.className = className;
  put(parent, child, element);
  return element;
}

function put(parent: Element, child: ChildNode | undefined, node: Node): void {
  if (child === undefined) parent.append(node);
  else child.replaceWith(node);
}

function removeFrom(parent: Element, count: number): void {
  while (parent.childNodes.length > count) parent.lastChild?.remove();
}

function showInlines(parent: Element, from: number, inlines: readonly Inline[]): void {
  for (const [index, inline] of inlines.entries()) {
    if (typeof inline === 'string') textAt(parent, from + index, inline, typeof inlines[index + 1] === 'string');
    else showElement(elementAt(parent, from + index, inline.tag), inline);
  }
  removeFrom(parent, from + inlines.length);
}

function showElement(element: HTMLElement, { tag, href, title, children }: InlineElement): void {
  if (tag === 'a') {
    setAttribute(element, 'href', href);
    setAttribute(element, 'title', title);
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer nofollow');
    element.dir = 'auto'; // which also isolates it from the text around
  }
  showInlines(element, 0, children);
}

function setAttribute(element: Element, name: string, value = ''): void {
  if (value === '') element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows a text by changing as little as possible of the one that is there. */
function textAt(parent: Element, index: number, text: string, isSplit: boolean): void {
  const child = parent.childNodes[index];
  if (!(child instanceof Text)) return put(parent, child, document.createTextNode(text));
  const { data } = child;
  if (text.startsWith(data)) {
    if (text.length > data.length) child.appendData(text.slice(data.length));
    return;
  }
  // The rest of the node becomes the next one.
  if (isSplit && data.startsWith(text)) return void child.splitText(text.length);
  let same = 0;
  while (same < text.length && data[same] === text[same]) same += 1;
  child.replaceData(same, data.length - same, text.slice(same));
}

/** The box of a task list as a character. */
function asTask(text: string): string {
  return text.replace(/^\[([ xX])\] /, (_box, mark: string) => (mark === ' ' ? '☐ ' : '☑ '));
}
