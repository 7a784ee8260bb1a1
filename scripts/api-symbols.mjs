import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCUMENTER = fileURLToPath(import.meta.resolve('@microsoft/api-documenter/lib/start'));

/**
 * The exported symbols of one entry, each with its kind, its name and its section of a page, made from the pages that
 * api-documenter writes from the entry's model in temp/api. Links lead to `#` and the name in lower case.
 */
export function symbolSections(root, model, packageName) {
  const folder = join(root, 'temp/api', model);
  const output = join(folder, 'pages');
  execFileSync(process.execPath, [DOCUMENTER, 'markdown', '-i', folder, '-o', output], { stdio: 'pipe' });
  const read = (file) => cleaned(readFileSync(join(output, file), 'utf8'));
  const names = new Set();
  return parts(read(`${packageName}.md`)).flatMap(({ heading, text }) =>
    rows(text).map(([cell]) => {
      const name = nameOf(cell);
      // Headings and links must have the same anchor.
      if (names.has(name.toLowerCase())) throw new Error(`${model}: "${name}" differs from another name by case alone`);
      names.add(name.toLowerCase());
      return {
        kind: heading === 'Type Aliases' ? 'Types' : heading,
        name,
        text: inPage(symbolText(read(fileOf(cell)), read)),
      };
    }),
  );
}

function symbolText(page, read) {
  const [head, ...further] = parts(page);
  const { summary, signature, after } = described(head.text);
  const isFunction = head.heading.endsWith('function');
  const isType = head.heading.endsWith('type');
  const section = (name) => further.find(({ heading }) => heading === name)?.text ?? '';
  const inherited = /^\*\*Extends:\*\* (.*)$/m.exec(after)?.[1];
  const types = isFunction ? linksOf(section('Parameters') + after) : linksOf(/\*\*References:\*\*.*/.exec(after)?.[0]);
  return [
    summary,
    isFunction || isType ? `\`\`\`typescript\n${signature}\n\`\`\`` : '',
    types.length > 0 ? `Types: ${types.join(', ')}` : '',
    inherited === undefined ? '' : `Extends ${inherited}.`,
    remarks(page),
    table('Field', rows(section('Properties')).map(property)),
    table(
      'Method',
      [...rows(section('Constructors')), ...rows(section('Methods'))].map((row) => method(row, read)),
    ),
    ...rows(section('Methods')).map(([cell]) => methodRemarks(cell, read)),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** The exceptions of a symbol or a method, and its examples. */
function remarks(page) {
  return parts(page)
    .filter(({ heading }) => /^(?:Remarks|Exceptions|Example.*)$/.test(heading))
    .map(({ heading, text }) => (heading === 'Exceptions' ? `Throws ${text}` : text))
    .join('\n\n');
}

function methodRemarks(cell, read) {
  const text = remarks(read(fileOf(cell)));
  return text === '' ? '' : `\`${nameOf(cell)}\`: ${text.startsWith('```') ? `\n\n${text}` : text}`;
}

function property([cell, , type, meaning]) {
  const name = nameOf(cell);
  const shape = (name.endsWith('?') ? type.replace(/ \\\| undefined$/, '') : type).replace(
    / \\\| \(string &amp; \{\}\)/,
    '',
  );
  return [code(raw(name)), shape.includes('](') ? shape : code(raw(shape)), meaning.replace(/^_\(Optional\)_ ?/, '')];
}

function method([cell], read) {
  const { summary, signature } = described(parts(read(fileOf(cell)))[0].text);
  const shape = code(signature.replaceAll(/\s+/g, ' ').replace(/;$/, ''));
  return [shape, signature.startsWith('constructor') ? 'Makes one.' : summary.replaceAll(/\s+/g, ' ')];
}

/** The name of the symbol in a cell, without parameters. */
function nameOf(cell) {
  return /^\[([^(\]]*)/.exec(cell)[1];
}

/** The page a cell links to. */
function fileOf(cell) {
  return /\]\(\.\/(.*?)\)/.exec(cell)[1];
}

/** The description of a page, its signature, and the text from there to the next heading. */
function described(text) {
  const [, summary, signature, after] =
    /^([\s\S]*?)\*\*Signature:\*\*\s+```typescript\n([\s\S]*?)\n```([\s\S]*)$/.exec(text) ?? [];
  if (signature === undefined) throw new Error(`api-documenter wrote no signature: ${text.slice(0, 100)}`);
  return { summary: summary.trim(), signature: signature.replace(/^export (?:declare )?/, '').trim(), after };
}

/** A page, split at its headings. */
function parts(page) {
  const [, ...found] = page.split(/^## /m);
  return found.map((part) => {
    const [heading, ...lines] = part.split('\n');
    return { heading: heading.trim(), text: lines.join('\n').trim() };
  });
}

/** A page without comments of the tool, without section numbers of the specification, and with links inside one page. */
function cleaned(page) {
  return page
    .replaceAll('\r\n', '\n')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/ \(spec [^)]*\)/g, '')
    .replaceAll('§', 'section ');
}

/** Turns links between the tool's pages into links inside one page. */
function inPage(text) {
  return text.replaceAll(/\]\(\.\/agent-bff(?:-react)?\.([\w-]+)[^)]*\.md\)/g, '](#$1)');
}

/** The rows of the first HTML table, each a list of cells on one line. */
function rows(text) {
  const body = /<tbody><tr>([\s\S]*?)<\/tr>\s*<\/tbody>/.exec(text)?.[1];
  return (body ?? '')
    .split(/<\/tr>\s*<tr>/)
    .filter((row) => row.trim() !== '')
    .map((row) => [...row.matchAll(/<td>([\s\S]*?)<\/td>/g)].map(([, cell]) => cell.trim().replaceAll(/\s+/g, ' ')));
}

function table(first, lines) {
  if (lines.length === 0) return '';
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const titles = [first, ...(lines[0].length === 3 ? ['Type'] : []), 'Meaning'];
  return [titles, titles.map(() => '---'), ...lines].map(line).join('\n');
}

function linksOf(text = '') {
  return [...new Set(text.match(/\[[^\]]*\]\([^)]*\)/g) ?? [])];
}

/** Inline code for a table. */
function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** A text without the escapes of Markdown and HTML. */
function raw(text) {
  return text
    .replaceAll(/\\([\\|_*[\]`~#])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
