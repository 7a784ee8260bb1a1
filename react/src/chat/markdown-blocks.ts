import { unescaped } from './inline-text.js';
import { definitionIn, type Reference } from './link-target.js';

export type BlockKind =
  'document' | 'quote' | 'list' | 'item' | 'paragraph' | 'heading' | 'code' | 'rule' | 'table' | 'row';

/** A block of Markdown. The view parses the inlines of `text`. */
export interface Block {
  kind: BlockKind;
  children: Block[];
  /** Of a paragraph, heading, row or code. */
  text: string;
  /** Of a heading, 1 to 6. */
  level: number;
  /** The marker shared by items of one list (`-`, `*`, `+`, `.` or `)`), the fence of code, or the last line of a paragraph. */
  marker: string;
  /**
   * The first number of an ordered list; the indent of an item's or a fenced block's content; the level of a heading in the
   * outline, where none is left out.
   */
  number: number;
  /** Of a block of code; empty when none is named. */
  language: string;
  /** Alignment of the columns of a table. */
  align: readonly string[];
}

type Fields = Omit<Block, 'children'>;

/** Blocks are not nested deeper than this: what is deeper is the text of a paragraph. */
const MAX_DEPTH = 20;
const MAX_COLUMNS = 64;
const FENCE = /^(?:(`{3,})([^`]*)|(~{3,})(.*))$/;
const BULLET = /^([-+*])(?: |$)/;
const NUMBER = /^(\d{1,9})([.)])(?: |$)/;
const HEADING = /^(#{1,6})(?: |$)/;
const HEADING_END = /\s#+$/;
/** Three or more of one of `-`, `*` and `_`, and spaces. */
const RULE = /^([-*_])(?: *\1){2,}$/;
const UNDERLINE = /^(?:=+|-+)$/;
const DELIMITER_ROW = /^\|? *:?-+:? *(?:\| *:?-+:? *)*\|?$/;
/** A line that may become a mark when more of it is there. */
const UNFINISHED_LINE = /^[-+*_=#|:~`> ]*(?:\d{1,9}[.)]?[-+*_~`> ]*)?$/;
const UNFINISHED_DEFINITIONS = /^(?:\[[^[\]^]+\]: *(?:\S+ *(?: ["'(].*)?)?(?:\n|$))+(?:\[[^\]]*\]?)?$/;

/**
 * Markdown as blocks, parsed as it arrives: more text costs the time of the new lines, whatever came before. Nothing
 * throws, and the time is linear in the length of the text.
 */
export class MarkdownBlocks {
  readonly root: Block = block('document');
  readonly #references = new Map<string, Reference>();
  /** The blocks that the next line may belong to, outermost first. */
  #open: Block[] = [this.root];
  /** The open blocks as they were before the last line, which is not finished; what that line did is undone first. */
  #saved: readonly { readonly block: Block; readonly fields: Fields; readonly count: number }[] = [];
  /** The offset of that line. */
  #offset = 0;
  #isGrowing = true;
  #isFinal = false;

  /** The number of children of a block that no later text changes. */
  settledCount(of: Block): number {
    const index = this.#saved.findIndex(({ block: one }) => one === of);
    const { count = 0 } = this.#saved[index] ?? {};
    const isLastOpen = this.#saved[index + 1]?.block === of.children[count - 1];
    return isLastOpen ? Math.max(0, count - 1) : count;
  }

  /** The paragraph, row or code that is being written; undefined when the text is complete. */
  get growing(): Block | undefined {
    const last = this.#open[this.#open.length - 1];
    return this.#isGrowing && last !== this.root ? last : undefined;
  }

  reference(label: string): Reference | undefined {
    return this.#references.get(label);
  }

  /** The number of link reference definitions so far. */
  get referenceCount(): number {
    return this.#references.size;
  }

  /** Takes the text so far, which begins as the one before. */
  write(text: string, isGrowing: boolean): void {
    this.#restore();
    this.#isGrowing = isGrowing;
    this.#isFinal = true;
    for (let end; (end = text.indexOf('\n', this.#offset)) >= 0; this.#offset = end + 1)
      this.#line(text.slice(this.#offset, text[end - 1] === '\r' ? end - 1 : end));
    this.#save();
    this.#isFinal = !isGrowing;
    const rest = text.slice(this.#offset);
    if (rest !== '' && !(isGrowing && this.#isUnfinished(rest))) this.#line(rest);
    if (!isGrowing) this.#close(1);
  }

  #isUnfinished(line: string): boolean {
    const last = this.#open[this.#open.length - 1] as Block;
    if (last.kind === 'code' && last.marker !== '') return last.marker.startsWith(line.trim());
    return line.length < 200 && UNFINISHED_LINE.test(line.replace(/\t/g, ' '));
  }

  #save(): void {
    this.#saved = this.#open.map(({ children, ...fields }, index) => ({
      block: this.#open[index] as Block,
      fields,
      count: children.length,
    }));
  }

  #restore(): void {
    if (this.#saved.length === 0) return;
    this.#open = this.#saved.map((saved) => {
      Object.assign(saved.block, saved.fields);
      saved.block.children.length = saved.count;
      return saved.block;
    });
  }

  #line(source: string): void {
    let line = source;
    if (line.includes('\t')) line = withoutTabs(line);
    let at = 0;
    let depth = 1;
    for (; depth < this.#open.length; depth += 1) {
      const { kind, number, children } = this.#open[depth] as Block;
      if (kind === 'list') continue;
      const indent = indentAt(line, at);
      const isBlank = at + indent === line.length;
      if (kind === 'quote') {
        if (indent > 3 || line[at + indent] !== '>') break;
        at += indent + 1;
        if (line[at] === ' ') at += 1;
      } else if (kind === 'item') {
        if (isBlank ? children.length === 0 : indent < number) break;
        at += isBlank ? indent : number;
      } else {
        break;
      }
    }
    const leaf = this.#open[depth];
    if (leaf?.kind === 'code' && this.#continueCode(leaf, line, at, source)) return;
    const last = this.#open[this.#open.length - 1] as Block;
    // A block has begun in this line.
    let hasBegun = false;
    const isLazy = (): boolean => !hasBegun && this.#open[this.#open.length - 1] === last && last.kind === 'paragraph';

    for (;;) {
      const indent = indentAt(line, at);
      const rest = line.slice(at + indent).trimEnd();
      if (rest === '') return this.#blank(depth, hasBegun);
      if (indent > 3) {
        if (isLazy()) break;
        this.#close(depth);
        this.#add('code', { text: `${behind(source, at + 4)}${this.#isFinal ? '\n' : ''}` });
        return;
      }
      // A paragraph goes on here, unless something interrupts it.
      const isInside = isLazy() && depth === this.#open.length - 1;
      if (isInside && UNDERLINE.test(rest) && this.#underline(last, rest)) return;
      if (isInside && this.#beginTable(last, rest)) return;
      const opened = this.#begin(rest, depth, indent, isInside);
      if (opened === undefined) {
        at += indent;
        break;
      }
      hasBegun = true;
      if (opened < 0) return;
      at += indent + opened;
      depth = this.#open.length;
    }

    // A space at the end of a line may be one of code.
    const text = line.slice(at).trimStart();
    const isRow = leaf?.kind === 'table' && !hasBegun && depth === this.#open.length - 1;
    if (isRow) return void leaf.children.push(block('row', { text: text.trimEnd() }));
    if (isLazy()) {
      last.text += `\n${text}`;
      last.marker = text;
      return;
    }
    this.#close(depth);
    const parent = this.#open[this.#open.length - 1] as Block;
    const first = parent.kind === 'item' && parent.children.length === 0 ? asTask(text) : text;
    this.#add('paragraph', { text: first, marker: first });
  }

  /** The number of characters that begin a block; -1 when they are the whole line, undefined when none begins. */
  #begin(rest: string, depth: number, indent: number, isInterrupting: boolean): number | undefined {
    const first = rest[0] as string;
    if (first === '>') {
      if (depth > MAX_DEPTH) return undefined;
      this.#close(depth);
      this.#add('quote');
      return rest[1] === ' ' ? 2 : 1;
    }
    if (first === '#') {
      const [mark, signs] = HEADING.exec(rest) ?? [];
      if (mark === undefined || signs === undefined) return undefined;
      const level = signs.length;
      this.#close(depth);
      this.#add('heading', {
        level,
        number: this.#outline(level),
        text: rest.slice(level).replace(HEADING_END, '').trim(),
      });
      if (this.#isFinal) this.#pop();
      return -1;
    }
    if (first === '`' || first === '~') {
      const found = FENCE.exec(rest);
      if (found === null) return undefined;
      const info = unescaped((found[2] ?? found[4] ?? '').trim());
      this.#close(depth);
      // While its line grows, the language is not known.
      const language = this.#isFinal ? (/^[^\s{]*/.exec(info)?.[0] ?? '') : '';
      this.#add('code', { marker: found[1] ?? found[3] ?? '', number: indent, language });
      return -1;
    }
    if (RULE.test(rest)) {
      this.#close(depth);
      this.#add('rule');
      this.#pop();
      return -1;
    }
    return this.#beginItem(rest, depth, indent, isInterrupting);
  }

  #beginItem(rest: string, depth: number, indent: number, isInterrupting: boolean): number | undefined {
    const [, digits = '', marker = ''] = NUMBER.exec(rest) ?? ['', '', BULLET.exec(rest)?.[1]];
    if (marker === '') return undefined;
    const length = digits.length + 1;
    const content = rest.slice(length).trimStart();
    const list = this.#open[depth - 1] as Block;
    const isSibling = list.kind === 'list' && list.marker === marker;
    // Inside of a paragraph a number or a bullet alone is text.
    if (isInterrupting && (content === '' || (digits !== '' && Number(digits) !== 1))) return undefined;
    if (!isSibling && depth > MAX_DEPTH) return undefined;
    this.#close(depth);
    if (!isSibling) this.#add('list', { marker, number: digits === '' ? -1 : Number(digits) });
    const spaces = rest.length - length - content.length;
    const width = content === '' || spaces > 4 ? length + 1 : length + spaces;
    this.#add('item', { number: indent + width });
    return Math.min(width, rest.length);
  }

  /** True when the line is part of the code, or ends it. */
  #continueCode(code: Block, line: string, at: number, source: string): boolean {
    const indent = indentAt(line, at);
    const rest = line.slice(at);
    const newline = this.#isFinal ? '\n' : '';
    if (code.marker === '') {
      if (indent < 4 && at + indent < line.length) return false;
      code.text += behind(source, at + 4) + newline;
      return true;
    }
    const end = rest.trim();
    if (indent < 4 && end.length >= code.marker.length && end === code.marker.charAt(0).repeat(end.length)) this.#pop();
    else code.text += behind(source, at + Math.min(indent, code.number)) + newline;
    return true;
  }

  #blank(depth: number, hasBegun: boolean): void {
    const { kind } = this.#open[depth] ?? {};
    // A quote and an empty item end here; code, a list and its items may go on.
    if (!hasBegun && kind !== 'code' && kind !== 'list') this.#close(depth);
  }

  /** False below definitions alone, which are no heading. */
  #underline(paragraph: Block, rest: string): boolean {
    this.#pop();
    if (paragraph.text === '') return false;
    paragraph.kind = 'heading';
    paragraph.level = rest.startsWith('=') ? 1 : 2;
    paragraph.number = this.#outline(paragraph.level);
    return true;
  }

  /** The place of a heading in the outline. The document keeps the levels above the next one, which are undone with it. */
  #outline(level: number): number {
    const marker = this.root.marker.replace(new RegExp(`[${level}-6]`, 'g'), '') + level;
    this.root.marker = marker;
    return marker.length;
  }

  #beginTable(paragraph: Block, rest: string): boolean {
    const { text, marker: header } = paragraph;
    if (!DELIMITER_ROW.test(rest) || !(rest + header).includes('|')) return false;
    const delimiters = cellsOf(rest);
    if (delimiters.length > MAX_COLUMNS || cellsOf(header).length !== delimiters.length) return false;
    const align = delimiters.map((cell) =>
      cell.endsWith(':') ? (cell.startsWith(':') ? 'center' : 'right') : cell.startsWith(':') ? 'left' : '',
    );
    const table: Partial<Block> = { align, children: [block('row', { text: header })] };
    if (text === header) {
      Object.assign(paragraph, table, { kind: 'table', text: '' });
    } else {
      paragraph.text = text.slice(0, -header.length - 1);
      this.#pop();
      this.#add('table', table);
    }
    return true;
  }

  #add(kind: BlockKind, fields?: Partial<Block>): void {
    const parent = this.#open[this.#open.length - 1] as Block;
    // A list has items only: anything else ends it.
    if (parent.kind === 'list' && kind !== 'item') {
      this.#pop();
      return this.#add(kind, fields);
    }
    const added = block(kind, fields);
    parent.children.push(added);
    this.#open.push(added);
  }

  #close(depth: number): void {
    while (this.#open.length > depth) this.#pop();
  }

  #pop(): void {
    const closed = this.#open.pop() as Block;
    if (closed.kind === 'code' && closed.marker === '') closed.text = withoutBlankEnd(closed.text);
    if (closed.kind !== 'paragraph') return;
    closed.text = closed.text.trimEnd();
    for (let found; closed.text.startsWith('[') && (found = definitionIn(closed.text)) !== undefined;) {
      const { label, href, title, end } = found;
      if (this.#isFinal && !this.#references.has(label)) this.#references.set(label, { href, title });
      closed.text = closed.text.slice(end);
    }
  }
}

/** The kind a block is shown as: while a paragraph grows, it may yet become the first row of a table, or nothing. */
export function shownKind({ kind, text }: Block, isGrowing: boolean): BlockKind | 'nothing' {
  if (kind !== 'paragraph') return kind;
  const isOpen = isGrowing && text.length < 2000;
  if (text === '' || (isOpen && UNFINISHED_DEFINITIONS.test(text))) return 'nothing';
  return isOpen && /^\|.*$/.test(text) && cellsOf(text).length <= MAX_COLUMNS ? 'table' : 'paragraph';
}

/** The cells of a row. */
export function cellsOf(row: string): readonly string[] {
  const cells: string[] = [];
  let cell = '';
  const start = row.startsWith('|') ? 1 : 0;
  for (let at = start; at < row.length; at += 1) {
    const character = row[at] as string;
    if (character === '|') {
      cells.push(cell.trim());
      cell = '';
    } else if (character === '\\' && at + 1 < row.length) {
      at += 1;
      cell += row[at] === '|' ? '|' : `\\${row[at]}`;
    } else {
      cell += character;
    }
  }
  if (cell.trim() !== '') cells.push(cell.trim());
  return cells;
}

function block(kind: BlockKind, fields?: Partial<Block>): Block {
  return { kind, children: [], text: '', level: 0, marker: '', number: 0, language: '', align: [], ...fields };
}

function indentAt(line: string, at: number): number {
  let indent = 0;
  while (line[at + indent] === ' ') indent += 1;
  return indent;
}

/** Tabs before the text of a line as the spaces they stand for. */
function withoutTabs(line: string): string {
  const [prefix] = /^[\s>*+\-\d.)#]*/.exec(line) as RegExpExecArray;
  let spaced = '';
  for (const character of prefix) spaced += character === '\t' ? ' '.repeat(4 - (spaced.length % 4)) : character;
  return spaced + line.slice(prefix.length);
}

/** The box of a task list as a character. */
function asTask(text: string): string {
  return text.replace(/^\[([ xX])\](?= )/, (_box, mark: string) => (mark === ' ' ? '☐' : '☑'));
}

/** Indented code without the blank lines behind it. */
function withoutBlankEnd(code: string): string {
  const end = code.indexOf('\n', code.trimEnd().length);
  return end < 0 ? code : code.slice(0, end + 1);
}

/** A line from a column on, with the tabs it has there. */
function behind(source: string, column: number): string {
  let [at, reached] = [0, 0];
  for (; reached < column && at < source.length; at += 1) reached += source[at] === '\t' ? 4 - (reached % 4) : 1;
  return ' '.repeat(Math.max(0, reached - column)) + source.slice(at);
}
