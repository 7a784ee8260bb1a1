import { type Block, cellsOf, MarkdownBlocks, shownKind } from '../../../react/src/chat/markdown-blocks.js';
import type { Inline } from '../../../react/src/chat/inline-tree.js';
import { parseInlines } from '../../../react/src/chat/markdown-inlines.js';

/**
 * The tree of a Markdown text as the chat reads it, as one line of markup. Every address counts as allowed.
 */
export function treeOfMarkdown(text: string, isGrowing = false): string {
  const blocks = new MarkdownBlocks();
  blocks.write(text, isGrowing);
  return childrenOf(blocks, blocks.root);
}

function childrenOf(blocks: MarkdownBlocks, parent: Block): string {
  return parent.children.map((block) => blockTree(blocks, block)).join('');
}

function blockTree(blocks: MarkdownBlocks, block: Block): string {
  const { text, level, children, number, language } = block;
  const isGrowing = block === blocks.growing;
  const kind = shownKind(block, isGrowing);
  const leaf = (source: string, isGrowingLeaf = isGrowing): string =>
    inlineTree(
      parseInlines(source, 0, {
        isGrowing: isGrowingLeaf,
        reference: (label) => blocks.reference(label),
        isLink: () => true,
      }).inlines,
    );
  const row = ({ text: source }: Block, isLast: boolean, width: number): string => {
    const written = cellsOf(source);
    const cells = Array.from({ length: width }, (_, index) => written[index] ?? '');
    const shown = cells.map((cell, index) =>
      leaf(cell, isGrowing && isLast && index === Math.min(written.length, width) - 1),
    );
    return `<tr>${shown.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  };
  switch (kind) {
    case 'code':
      return `<pre ${language}>${text}</pre>`;
    case 'rule':
      return '<hr>';
    case 'heading':
      return `<h${level}>${leaf(text)}</h${level}>`;
    case 'quote':
      return `<blockquote>${childrenOf(blocks, block)}</blockquote>`;
    case 'item':
      return `<li>${childrenOf(blocks, block)}</li>`;
    case 'list':
      return number < 0 ? `<ul>${childrenOf(blocks, block)}</ul>` : `<ol ${number}>${childrenOf(blocks, block)}</ol>`;
    case 'table': {
      const rows = block.kind === kind ? children : [block];
      const width = cellsOf(rows[0]?.text ?? '').length;
      return `<table ${block.align.join()}>${rows.map((one, index) => row(one, index === rows.length - 1, width)).join('')}</table>`;
    }
    case 'nothing':
      return '';
    case 'document':
    case 'paragraph':
    case 'row':
      return paragraph(leaf(text));
  }
}

/** Without a text, as around a comment, a paragraph is not shown. */
function paragraph(content: string): string {
  return content === '' ? '' : `<p>${content}</p>`;
}

export function inlineTree(inlines: readonly Inline[]): string {
  return inlines.map(inlineNode).join('');
}

function inlineNode(inline: Inline): string {
  if (typeof inline === 'string') return inline.replace(/\n+/g, '<br>');
  const { tag, children } = inline;
  if (tag === 'br') return '<br>';
  if (tag === 'a' || tag === 'img') return linkTree(inline, tag === 'a' ? inlineTree(children) : plainText(children));
  return `<${tag}>${inlineTree(children)}</${tag}>`;
}

function plainText(inlines: readonly Inline[]): string {
  return inlines.map((inline) => (typeof inline === 'string' ? inline : plainText(inline.children))).join('');
}

function linkTree(
  { href, title }: { readonly href?: string | undefined; readonly title?: string | undefined },
  text: string,
): string {
  return `<a${href === undefined ? '' : ` ${written(href)}`}${title ? ` "${title}"` : ''}>${text}</a>`;
}

/** An address in one spelling: renderers differ in the characters that they write as %xx. */
function written(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href;
  }
}

interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (Element | string)[];
}

const INLINE = new Set(['a', 'em', 'strong', 'del', 'code', 'br', 'img', 'input']);
const VOID = new Set(['br', 'hr', 'img', 'input']);
const MARKUP = /<(\/?)([a-z]+[1-6]?)((?: +[a-z]+="[^"]*")*) *\/?>|([^<]+|<)/g;

/**
 * The same for the HTML of another reader. Of the same meaning are: a line break of the source and one of the page, an
 * image and a link to it, and an item with and without a paragraph.
 */
export function treeOfHtml(html: string): string {
  const root: Element = { tag: '', attributes: {}, children: [] };
  const open = [root];
  for (const [, slash, tag = '', attributes = '', text] of html.replace(/<!--(?:-?>|.*?-->)/gs, '').matchAll(MARKUP)) {
    const parent = open[open.length - 1] as Element;
    if (text !== undefined) parent.children.push(decoded(text));
    else if (slash === '/') open.pop();
    else {
      const found = [...attributes.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        decoded(value),
      ]);
      const element: Element = { tag, attributes: Object.fromEntries(found) as Record<string, string>, children: [] };
      parent.children.push(element);
      if (!VOID.has(tag)) open.push(element);
    }
  }
  return htmlBlocks(root);
}

function htmlBlocks({ children }: Element): string {
  let [tree, words]: [string, (Element | string)[]] = ['', []];
  const end = (): void => {
    const text = htmlInlines(words, false);
    words = [];
    tree += paragraph(text);
  };
  for (const child of children) {
    if (typeof child === 'string' ? child.trim() !== '' || words.length > 0 : INLINE.has(child.tag)) {
      words.push(child);
    } else if (typeof child !== 'string') {
      end();
      tree += htmlBlock(child);
    }
  }
  end();
  return tree;
}

function htmlBlock(element: Element): string {
  const { tag, attributes, children } = element;
  switch (tag) {
    case 'p':
      return paragraph(htmlInlines(children, false));
    case 'hr':
      return '<hr>';
    case 'pre': {
      const [code] = children as [Element];
      return `<pre ${(code.attributes['class'] ?? '').replace('language-', '')}>${textOf(code.children)}</pre>`;
    }
    case 'ul':
    case 'li':
    case 'blockquote':
      return `<${tag}>${htmlBlocks(element)}</${tag}>`;
    case 'ol':
      return `<ol ${attributes['start'] ?? 1}>${htmlBlocks(element)}</ol>`;
    case 'table': {
      const rows = elementsIn(element).flatMap(elementsIn);
      const align = elementsIn(rows[0] as Element).map((cell) => cell.attributes['align'] ?? '');
      const cells = rows.map((row) => elementsIn(row).map((cell) => `<td>${htmlInlines(cell.children, false)}</td>`));
      return `<table ${align.join()}>${cells.map((row) => `<tr>${row.join('')}</tr>`).join('')}</table>`;
    }
    default:
      return `<${tag}>${htmlInlines(children, false)}</${tag}>`;
  }
}

function htmlInlines(nodes: readonly (Element | string)[], isInLink: boolean): string {
  const markup = nodes.map((node) => {
    if (typeof node === 'string') return node.replace(/\n/g, '<br>');
    const { tag, attributes, children } = node;
    const { href, src, alt = '', title } = attributes;
    switch (tag) {
      case 'br':
        return '<br>';
      case 'input':
        return 'checked' in attributes ? '☑' : '☐';
      case 'img':
        return isInLink ? alt : linkTree({ href: src, title }, alt.replace(/\n/g, '<br>'));
      case 'a':
        return linkTree({ href, title }, htmlInlines(children, true));
      default:
        return `<${tag}>${htmlInlines(children, isInLink)}</${tag}>`;
    }
  });
  return markup
    .join('')
    .replace(/(?:<br>)+$|^(?:<br>)+/g, '')
    .replaceAll('<br><br>', '<br>');
}

function elementsIn({ children }: Element): readonly Element[] {
  return children.filter((child) => typeof child !== 'string');
}

function textOf(nodes: readonly (Element | string)[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

function decoded(text: string): string {
  return text.replace(/&(lt|gt|amp|quot);/g, (_entity, name: string) => CHARACTERS[name] as string);
}
