import DOMPurify from 'dompurify';
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

const LANGUAGES = { bash, css, go, java, javascript, json, python, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** Colours the blocks of code whose language is known. */
export function highlight(element: Element): void {
  for (const code of element.querySelectorAll('pre > code[class^="language-"]')) {
    const language = code.className.slice('language-'.length);
    if (highlighter.getLanguage(language) === undefined) continue;
    const { value } = highlighter.highlight(code.textContent ?? '', { language, ignoreIllegals: true });
    const coloured = DOMPurify.sanitize(value, {
      ALLOWED_TAGS: ['span'],
      ALLOWED_ATTR: ['class'],
      RETURN_DOM_FRAGMENT: true,
    });
    code.replaceChildren(coloured);
  }
}
