// node scripts/configuration-table.mjs: writes the tables of docs/configuration.md from the doc comments of the
// options. With --check it writes nothing, and fails if the page is outdated.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { ROOT } from './command.mjs';
import { tableOf, writeGenerated } from './generated-table.mjs';

const PAGE = join(ROOT, 'docs/configuration.md');
const SOURCES = join(ROOT, 'src/composition');

/** Each table: the interface, its file, and where its fields are set. `block` is their path in the configuration. */
const CONFIGURATION = [
  { file: 'config/server-config.ts', type: 'ServerConfig', title: 'All fields', block: '' },
  { file: '../adapters/service-account/descriptor.ts', type: 'ServiceAccountConfig', block: 'serviceAccount' },
  { file: '../adapters/idp-a/descriptor.ts', type: 'IdpAConfig', block: 'idpA' },
  { file: '../adapters/idp-a/descriptor.ts', type: 'IdpAServiceUserConfig', block: 'idpAServiceUser' },
  { file: '../adapters/idp-b/descriptor.ts', type: 'IdpBServiceConfig', block: 'idpBService' },
  { file: 'config/server-config.ts', type: 'OnBehalfOfConfig', block: 'onBehalfOf' },
  { file: 'config/server-config.ts', type: 'TimeoutsConfig', block: 'timeouts' },
  { file: 'config/upstream-config.ts', type: 'UpstreamConfig', block: 'upstream' },
  { file: 'config/upstream-config.ts', type: 'UpstreamPathsConfig', block: 'upstream.paths' },
  { file: 'config/upstream-config.ts', type: 'UpstreamHeadersConfig', block: 'upstream.headers' },
];
const OPTIONS = [
  { file: 'routes/route-options.ts', type: 'ChatHandlerOptions', title: '`createA2ARouter`' },
  { file: 'routes/route-options.ts', type: 'SurfaceRouterOptions', title: '`createServiceSurfaceRouter`' },
  { file: 'routes/route-options.ts', type: 'ServiceProxyOptions', title: '`createServiceProxyRouter`' },
  { file: 'routes/route-options.ts', type: 'SiteFieldOptions', title: '`headers` and `forward`, on every route' },
  { file: 'routes/route-options.ts', type: 'ConversationOptions', title: 'Whose conversations, on every chat route' },
  { file: 'routes/route-options.ts', type: 'ForwardOptions', title: 'The option `forward`' },
  { file: 'routes/route-options.ts', type: 'RenderCacheOptions', title: 'The option `cache`' },
  { file: 'routes/site-routes.ts', type: 'HandlersOptions', title: '`createHandlers`' },
  { file: 'routes/site-routes.ts', type: 'SiteRoutesOptions', title: '`createNodeHandler` and `createWebHandler`' },
  { file: 'next.ts', type: 'A2AServiceHandlerOptions', title: '`createA2AProxyHandlerWithServiceAuth`' },
  { file: 'next.ts', type: 'A2AProxyHandlerOptions', title: '`createA2AProxyHandler`' },
  {
    file: 'routes/route-options.ts',
    type: 'ServiceSurfaceHandlerOptions',
    title: '`createSurfaceHandlerWithServiceAuth`',
  },
  { file: 'routes/route-options.ts', type: 'SurfaceHandlerOptions', title: '`createSurfaceHandler`' },
  { file: 'toolkit/toolkit-type.ts', type: 'ToolkitPorts', title: 'Second argument of `createToolkit`' },
];

/** Documented once for all tables: one above them, the other in its own table. */
const COMMON = ['ToolkitOption', 'SiteFieldOptions', 'ConversationOptions'];

const loaded = async (file) => (await runnerImport(join(SOURCES, file), { configFile: false })).module;
const read = (file) => readFileSync(join(SOURCES, file), 'utf8');
const table = rowsOf((await loaded('config/schema.ts')).FIELDS);
const variables = new Map(table.flatMap(({ path, variable }) => (variable === undefined ? [] : [[path, variable]])));
const defaults = (await loaded('config/resolve-config.ts')).resolveConfig({}, new Set());
const choices = choicesOf(read('config/server-config.ts'));
const listed = new Set();
const fields = CONFIGURATION.map(section).join('\n\n');
const forgotten = [...variables.keys()].filter((path) => !listed.has(path));
if (forgotten.length > 0)
  throw new Error(`schema.ts has variables of fields that no table lists: ${forgotten.join(', ')}`);
await writeGenerated(
  PAGE,
  { fields, options: OPTIONS.map(section).join('\n\n') },
  process.argv.includes('--check')
    ? 'docs/configuration.md is out of date: run "node scripts/configuration-table.mjs".'
    : undefined,
);

/** One heading, one sentence and one table. */
function section({ file, type, title, block }) {
  const { summary, rows } = interfaceOf(read(file), type);
  const hasVariables = rows.some(({ name }) => variables.has(pathOf(block, name)));
  const columns = ['Field', 'Type', 'Default', 'Meaning', ...(hasVariables ? ['Variable'] : [])];
  const cells = rows.map(({ name, type: shape, isRequired, text }) => {
    const path = pathOf(block, name);
    listed.add(path);
    const { meaning, initial } = split(text);
    if (block !== undefined) checkDefault(path, initial);
    const variable = variables.get(path);
    return [
      `\`${name}\``,
      typeCell(shape),
      isRequired ? 'required' : initial,
      meaning,
      ...(hasVariables ? [variable === undefined ? '' : `\`${variable}\``] : []),
    ];
  });
  return [
    `### ${title ?? `\`${block}\``}`,
    ...(title === 'All fields' || summary === '' ? [] : [summary]),
    tableOf([columns, ...cells]),
  ].join('\n\n');
}

/** An interface as formatted by prettier: its first sentence, and name, type and comment of each field, including inherited ones. */
function interfaceOf(source, type) {
  const found = new RegExp(
    `\\/\\*\\*\\n((?: \\*.*\\n)+?) \\*\\/\\nexport interface ${type}(?:<[^>]*>)?\\s(?:\\s*extends\\s+([\\w<>,\\s]+?)\\s)?\\{\\n([\\s\\S]*?)\\n\\}`,
  ).exec(source);
  if (found === null) throw new Error(`no documented interface ${type}`);
  const [, comment, bases = '', body] = found;
  const rows = [
    ...body.matchAll(
      / {2}\/\*\*([\s\S]*?)\*\/\n(?: {2}\/\/.*\n)*? {2}readonly (\w+)(\??): ([\s\S]*?);\n?(?=$|\n| {2})/g,
    ),
  ].map(([, text, name, optional, shape]) => ({ name, isRequired: optional === '', type: shape, text: prose(text) }));
  const all = body.match(/^ {2}readonly \w+/gm) ?? [];
  if (rows.length !== all.length) throw new Error(`${type}: ${all.length} fields, of which ${rows.length} were read`);
  for (const base of bases
    .replaceAll(/<\w+>/g, '')
    .split(/,\s+/)
    .filter((name) => name !== '' && !COMMON.includes(name))) {
    const home = new RegExp(`interface ${base}\\b`).test(source) ? source : read('routes/route-options.ts');
    const inherited = interfaceOf(home, base).rows;
    rows.push(...inherited.filter((row) => rows.every(({ name }) => name !== row.name)));
  }
  return { summary: prose(comment.split(' * @')[0]).replace(/^Options of [^.]*\.\s*/, ''), rows };
}

/** A comment as running text, without the section numbers of the specification, which its readers do not need. */
function prose(comment) {
  return comment
    .replaceAll(/^\s*\*/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ \(spec [^)]*\)/g, '')
    .trim();
}

/** The description in a comment, and its default. */
function split(text) {
  const found = /\s*\bDefault:? (.+?)(?:\.(?=\s|$)|; (.+?\.)(?=\s|$))/.exec(text);
  if (found === null) return { meaning: escaped(text), initial: '' };
  const [sentence, initial, more = ''] = found;
  const rest = `${text.slice(0, found.index)} ${capital(more)}${text.slice(found.index + sentence.length)}`.trim();
  return { meaning: escaped(rest), initial: escaped(initial) };
}

function typeCell(shape) {
  const short = shape
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*\|\s*undefined\b/g, '')
    .replaceAll(/ ?\| \(string & \{\}\)/g, '')
    .replaceAll('readonly ', '')
    .replaceAll('<NativeRequest>', '')
    .replace(/^\| /, '')
    .trim();
  const block = CONFIGURATION.find(({ type }) => type === short)?.block;
  if (block !== undefined) return `[block](#${block.replaceAll('.', '').toLowerCase()})`;
  return `\`${escaped(short.replace(/^\w+$/, (name) => choices.get(name) ?? name))}\``;
}

/** The meaning of a type name that is a choice of values, which are more useful in a table than the name. */
function choicesOf(source) {
  const found = source.matchAll(/^export type (\w+) =\s+(['\w][^;\n]*);$/gm);
  return new Map([...found].map(([, name, values]) => [name, values.replaceAll('readonly ', '')]));
}

/** The rows of the configuration table with their paths. */
function rowsOf(rows, block) {
  return Object.entries(rows).flatMap(([name, row]) => {
    const path = pathOf(block, name);
    return [{ path, variable: row.variable }, ...rowsOf(row.fields ?? {}, path)];
  });
}

/** Fails if the default number in a comment differs from the one in the table. */
function checkDefault(path, initial) {
  const value = path.split('.').reduce((block, name) => Object(block)[name], defaults);
  if (typeof value !== 'number' || Number(/^[\d ]+/.exec(initial)?.[0].replaceAll(' ', '')) === value) return;
  throw new Error(`${path} is ${value} without a value; its comment says "${initial}"`);
}

function pathOf(block, name) {
  return block ? `${block}.${name}` : name;
}

function escaped(text) {
  return text.replaceAll('|', '\\|');
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
