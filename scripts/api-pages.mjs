// npm run docs, npm pack: writes docs/api, the reference, from the models that scripts/api.mjs leaves in temp/api: a page for each entry.
// A type that the main entry exports too is documented there.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { ROOT } from './command.mjs';
import { tableOf } from './generated-table.mjs';

const FOLDER = join(ROOT, 'docs/api');
const NOTE = '<!-- Written by `npm run docs` from the doc comments. -->';
const HEADINGS = {
  Class: 'Classes',
  Function: 'Functions',
  Interface: 'Interfaces',
  TypeAlias: 'Types',
  Variable: 'Variables',
};

/** The purpose of each entry. */
const PURPOSES = {
  '.': 'configuration, sessions, credentials, errors, telemetry, and the types of all entries',
  './express': 'routers for Express 4 and 5',
  './koa': 'routers for Koa',
  './next': "handlers for Next's route files",
  './node': 'all routes as one listener of `node:http`',
  './web': 'all routes as one function from `Request` to `Response`',
  './testing': 'fakes of the ports that a site can replace',
};

const { name: packageName, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const paths = Object.keys(exports).filter((path) => exports[path].types !== undefined);
const [main, ...others] = paths.map((path) => entry(`${packageName}${path.slice(1)}`, PURPOSES[path]));
const inMain = new Set(main.symbols.map(({ name }) => name));

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const one of [main, ...others]) await write(one.page, entryPage(one));
// The index is last: without it, the reference is out of date.
await write('README.md', index([main, ...others]));

function entry(name, purpose) {
  if (purpose === undefined) throw new Error(`scripts/api-pages.mjs has no purpose for the entry "${name}"`);
  const model = join(ROOT, 'temp/api', name.replaceAll('/', '-'), 'model.api.json');
  const symbols = JSON.parse(readFileSync(model, 'utf8')).members[0].members;
  const anchors = new Set(symbols.map((symbol) => anchor(symbol.name)));
  if (anchors.size < symbols.length)
    throw new Error(`${name}: two names differ by case only, or a function is overloaded`);
  return { name, purpose, page: `${basename(name)}.md`, symbols };
}

async function write(file, text) {
  const path = join(FOLDER, file);
  const formatted = await format(text, { ...(await resolveConfig(path)), filepath: path });
  // Blanks that align columns were a quarter of the pages, which are packed and not committed.
  writeFileSync(
    path,
    formatted.replaceAll(/^\|.*$/gm, (row) => row.replaceAll(/ +(?=\|)/g, ' ').replaceAll(/-{3,}/g, '---')),
  );
}

function index(all) {
  return [
    NOTE,
    '# API reference',
    'Every name the package exports, by entry. For the fields in tables of their own, with defaults and variables, see [configuration](../configuration.md).',
    table(
      ['Entry', 'Gives'],
      all.map(({ name, purpose, page }) => [`[\`${name}\`](${page})`, purpose]),
    ),
  ].join('\n\n');
}

function entryPage({ name, purpose, symbols, page }) {
  const isShared = ({ name: one, kind }) => page !== main.page && /Interface|TypeAlias/.test(kind) && inMain.has(one);
  const own = symbols.filter((symbol) => !isShared(symbol));
  const ownNames = new Set(own.map((symbol) => symbol.name));
  const hrefOf = (one) =>
    ownNames.has(one) ? `#${anchor(one)}` : inMain.has(one) ? `${main.page}#${anchor(one)}` : undefined;
  const list = (some) => some.map((one) => `[\`${one.name}\`](${hrefOf(one.name)})`).join(', ');
  const kinds = Object.entries(HEADINGS).map(([kind, heading]) => [heading, own.filter((one) => one.kind === kind)]);
  const present = kinds.filter(([, some]) => some.length > 0);
  const shared = symbols.filter(isShared);
  return [
    NOTE,
    `# ${name}`,
    `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}. [All entries](README.md)`,
    ...present.map(([heading, some]) => `**${heading}:** ${list(some)}`),
    shared.length === 0 ? '' : `**Also exported, and documented with \`${packageName}\`:** ${list(shared)}`,
    ...present.flatMap(([heading, some]) => [`## ${heading}`, ...some.map((one) => section(one, hrefOf))]),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function section({ name, kind, docComment, excerptTokens, members = [], ...symbol }, hrefOf) {
  const { summary, remarks } = commentOf(docComment);
  const hasSignature = kind === 'Function' || kind === 'TypeAlias';
  const signature = textOf(excerptTokens).replace(/^export (?:declare )?/, '');
  const types = new Set(
    excerptTokens.filter(({ kind: one, text }) => one === 'Reference' && hrefOf(text)).map(({ text }) => text),
  );
  const bases = [symbol.extendsTokenRange ?? [], symbol.extendsTokenRanges ?? []].flat();
  const fields = members.filter((member) => member.propertyTypeTokenRange !== undefined);
  const methods = members.filter((member) => member.parameters !== undefined);
  return [
    `### ${name}`,
    summary,
    hasSignature ? `\`\`\`typescript\n${signature}\n\`\`\`` : '',
    hasSignature && types.size > 0 ? `Types: ${[...types].map((type) => `[${type}](${hrefOf(type)})`).join(', ')}` : '',
    bases.length === 0 ? '' : `Extends ${bases.map((range) => linked(excerptTokens, range, hrefOf)).join(', ')}.`,
    remarks,
    table(
      ['Field', 'Type', 'Meaning'],
      fields.map((field) => fieldRow(field, hrefOf)),
    ),
    table(['Method', 'Meaning'], methods.map(methodRow)),
    ...methods.map(methodRemarks),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function fieldRow({ name, isOptional, docComment, excerptTokens, propertyTypeTokenRange }, hrefOf) {
  const type = linked(excerptTokens, propertyTypeTokenRange, hrefOf);
  return [
    code(isOptional ? `${name}?` : name),
    isOptional ? type.replace(/ \\\| undefined(`?)$/, '$1') : type,
    oneLine(commentOf(docComment).summary).replaceAll('|', '\\|'),
  ];
}

function methodRow({ kind, docComment, excerptTokens }) {
  const meaning = kind === 'Constructor' ? 'Creates one.' : commentOf(docComment).summary;
  return [code(oneLine(textOf(excerptTokens)).replace(/;$/, '')), oneLine(meaning).replaceAll('|', '\\|')];
}

function methodRemarks({ name, docComment }) {
  const { remarks } = commentOf(docComment);
  return remarks === '' ? '' : `\`${name}\`: ${remarks.startsWith('```') ? `\n\n${remarks}` : remarks}`;
}

/** The sentences of a doc comment, and its `@throws` and examples. */
function commentOf(docComment) {
  const text = docComment
    .replaceAll(/^\/\*\*|\*\/\s*$/g, '')
    .replaceAll(/^ ?\* ?/gm, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/ \(spec [^)]*\)/g, '');
  const [summary, ...blocks] = text.split(/^@(?=\w)/m);
  const remarks = blocks.flatMap((block) => {
    const [, tag, body] = /^(\w+)\s*([^]*)$/.exec(block);
    return tag === 'throws' ? [`Throws ${body.trim()}`] : tag === 'example' ? [body.trim()] : [];
  });
  return { summary: summary.trim(), remarks: remarks.join('\n\n') };
}

/** A type as a cell: with links where it names what has a section, as code otherwise. */
function linked(tokens, { startIndex, endIndex }, hrefOf) {
  const type = tokens.slice(startIndex, endIndex);
  const href = ({ kind, text }) => (kind === 'Reference' ? hrefOf(text) : undefined);
  const isLinked = type.some(href);
  const cells = type.map((token) => (href(token) ? `[${token.text}](${href(token)})` : escaped(token.text)));
  const text = oneLine(isLinked ? cells.join('') : textOf(type)).replace(/ \\?\| \(string & \{\}\)/, '');
  return isLinked ? text : code(text);
}

function table(titles, rows) {
  return rows.length === 0 ? '' : tableOf([titles, ...rows]);
}

function textOf(tokens) {
  return tokens.map(({ text }) => text).join('');
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function code(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function escaped(text) {
  return text.replaceAll(/[|<>*_[\]\\]/g, '\\$&');
}

function anchor(name) {
  return name.toLowerCase();
}
