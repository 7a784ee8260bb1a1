import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** Longer code stays plain, in characters, and so does a longer word: some grammars take quadratic time. */
const MAX_LENGTH = 5000;
const LONG_WORD = /[\w$\u0080-\uffff]{500}/;
const MAX_TASK_MS = 12;
const LANGUAGES = { bash, css, go, java, javascript, json, python, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** The deepest nesting of coloured elements. */
const MAX_DEPTH = 30;

/** Builds elements where highlight.js would write markup. */
class CodeFragment {
  readonly root: DocumentFragment = document.createDocumentFragment();
  readonly #path: Node[] = [this.root];

  addText(text: string): void {
    this.#path[this.#path.length - 1]?.appendChild(document.createTextNode(text));
  }

  startScope(name: string): void {
    const span = document.createElement('span');
    const [first = '', ...others] = name.split('.');
    span.className = [`hljs-${first}`, ...others.map((other) => `${other}_`)].join(' ');
    const parent = this.#path[this.#path.length - 1] as Node;
    if (this.#path.length <= MAX_DEPTH) parent.appendChild(span);
    this.#path.push(this.#path.length <= MAX_DEPTH ? span : parent);
  }

  endScope(): void {
    if (this.#path.length > 1) this.#path.pop();
  }

  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage({ root }: CodeFragment): void {
    this.#path[this.#path.length - 1]?.appendChild(root);
  }

  finalize(): void {
    // Elements need no end.
  }

  toHTML(): string {
    return '';
  }
}

highlighter.configure({ __emitter: CodeFragment as never });

/** Colours the blocks of code whose language is known, some in each task: each task lays out the page again. */
export function highlight(element: Element): void {
  const codes = [...element.querySelectorAll('code[class^="language-"]:not([data-coloured])')].values();
  const colourSome = (): void => {
    const until = performance.now() + MAX_TASK_MS;
    // Looking at the selection lays out the page.
    const isSelected = getSelection()?.isCollapsed === false;
    for (const code of codes) {
      colour(code, isSelected);
      if (performance.now() > until) return void setTimeout(colourSome);
    }
  };
  colourSome();
}

function colour(code: Element, isSelected: boolean): void {
  code.setAttribute('data-coloured', '');
  const text = code.textContent ?? '';
  const language = code.className.slice('language-'.length);
  if (text.length > MAX_LENGTH || LONG_WORD.test(text) || highlighter.getLanguage(language) === undefined) return;
  const { _emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const change = (): void => {
    code.textContent = '';
    code.append((_emitter as unknown as CodeFragment).root);
  };
  if (isSelected) keepingSelection(code, change);
  else change();
}

/** Changes the nodes of a text and selects the same characters again. */
function keepingSelection(element: Element, change: () => void): void {
  const selection = getSelection();
  const range = selection !== null && selection.rangeCount > 0 ? selection.getRangeAt(0) : undefined;
  if (selection === null || range === undefined || range.collapsed || !range.intersectsNode(element)) return change();
  const ends = [
    [selection.anchorNode, selection.anchorOffset],
    [selection.focusNode, selection.focusOffset],
  ] as const;
  const offsets = ends.map(([node, offset]) => {
    if (node === null || !element.contains(node)) return undefined;
    const before = document.createRange();
    before.setStart(element, 0);
    before.setEnd(node, offset);
    return before.toString().length;
  });
  change();
  const [anchor, focus] = ends.map(([node, offset], index) => {
    const at = offsets[index];
    return at === undefined ? ([node, offset] as const) : placeAt(element, at);
  });
  if (anchor?.[0] && focus?.[0]) selection.setBaseAndExtent(anchor[0], anchor[1], focus[0], focus[1]);
}

function placeAt(element: Element, offset: number): readonly [Node, number] {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let rest = offset;
  while (texts.nextNode()) {
    const { length } = texts.currentNode as Text;
    if (rest <= length) return [texts.currentNode, rest];
    rest -= length;
  }
  return [element, element.childNodes.length];
}
