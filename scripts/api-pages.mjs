// npm run docs, npm pack: writes docs/api, the reference of every entry, from the models that scripts/api.mjs leaves in temp/api.
// api-documenter writes a page per member; here an entry becomes one page, with links to symbols of the main entry.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { symbolSections } from './api-symbols.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'docs/api');
const NOTE = '<!-- Written by `npm run docs` from the doc comments. -->';

/** The purpose of each entry. */
const PURPOSES = {
  '.': 'configuration, sessions, credentials, errors, telemetry, and the types of all entries',
  './express': 'routers for Express 4 and 5',
  './koa': 'routers for Koa',
  './next': "handlers for Next's route files",
  './node': 'all routes as one listener of `node:http`',
  './web': 'all routes as one function from `Request` to `Response`',
  './testing': 'a fake of every port',
};

const { name: packageName, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const entries = Object.entries(exports)
  .filter(([, target]) => target.types !== undefined)
  .map(([path]) => {
    const purpose = PURPOSES[path];
    if (purpose === undefined) throw new Error(`scripts/api-pages.mjs does not say what the entry "${path}" is for`);
    const name = `${packageName}${path.slice(1)}`;
    return { name, purpose, page: `${basename(name)}.md`, model: name.replaceAll('/', '-') };
  });

/** The components have a single entry, and share no types with the others. */
const REACT = {
  name: 'agent-bff-react',
  purpose: 'the chat and the widgets on the page, for React',
  page: 'agent-bff-react.md',
  model: 'agent-bff-react',
};

const [main, ...others] = [...entries, REACT].map((entry) => ({
  ...entry,
  sections: symbolSections(ROOT, entry.model, entry === REACT ? entry.name : packageName),
}));
const inMain = new Map(main.sections.map((section) => [section.name, section]));
const pages = new Map([
  ['README.md', index([main, ...others])],
  [main.page, entryPage(main, [])],
  ...others.map((entry) => {
    const shared = entry.sections.filter(isInMain);
    return [entry.page, entryPage({ ...entry, sections: entry.sections.filter((one) => !isInMain(one)) }, shared)];
  }),
]);

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
// The index is last: without it, the reference is out of date.
for (const [file, text] of [...pages].toReversed()) {
  const path = join(FOLDER, file);
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), filepath: path }));
}

/** True if the main entry documents it in the same words. Functions are documented in the entry they are imported from. */
function isInMain({ name, kind, text }) {
  return kind !== 'Functions' && kind !== 'Classes' && plain(inMain.get(name)?.text) === plain(text);
}

/** A text without links: an entry that does not export a type cannot link to it. */
function plain(text) {
  return text
    ?.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^Types: .*$/gm, '')
    .replaceAll(/[`\s]+/g, '');
}

function index(all) {
  const rows = all.map(({ name, purpose, page }) => `| [\`${name}\`](${page}) | ${purpose} |`);
  return [
    NOTE,
    '# API reference',
    'Every name the package exports, by entry. For the fields in tables of their own, with defaults and variables, see [configuration](../configuration.md).',
    ['| Entry | Gives |', '| --- | --- |', ...rows].join('\n'),
  ].join('\n\n');
}

function entryPage({ name, purpose, sections }, shared) {
  const kinds = [...new Set(sections.map(({ kind }) => kind))];
  const local = new Set(sections.map((section) => section.name.toLowerCase()));
  // Symbols that are not on this page are on that of the main entry.
  const linked = (text) =>
    text.replaceAll(/\]\(#([\w-]+)\)/g, (link, anchor) => (local.has(anchor) ? link : `](${main.page}#${anchor})`));
  const list = (some) => some.map((one) => linked(`[\`${one.name}\`](#${one.name.toLowerCase()})`)).join(', ');
  return [
    NOTE,
    `# ${name}`,
    `${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}. [All entries](README.md)`,
    ...kinds.map((kind) => `**${kind}:** ${list(sections.filter((one) => one.kind === kind))}`),
    ...(shared.length === 0 ? [] : [`**Also exported, and documented with \`${packageName}\`:** ${list(shared)}`]),
    ...kinds.flatMap((kind) => [
      `## ${kind}`,
      ...sections.filter((one) => one.kind === kind).map((one) => `### ${one.name}\n\n${linked(one.text)}`),
    ]),
  ].join('\n\n');
}
