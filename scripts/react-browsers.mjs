// npm run browsers: checks that the built agent-bff-react only uses what the browsers in `browserslist` of its package.json
// have, by MDN's compatibility data. A name that several interfaces have passes if one of them has it in every browser.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseAst } from 'rolldown/parseAst';
import { ensureBuilt } from './build.mjs';

const REACT = new URL('../react/', import.meta.url);
const BROWSERS = { chrome: 'chrome', edge: 'edge', firefox: 'firefox', safari: 'safari', ios_saf: 'safari_ios' };
/** Newer than the oldest browser, and used only where present. Tests cover browsers without them. */
const IMPROVEMENTS = {
  'content-visibility': 'Safari lays out all of a long answer',
  'field-sizing': 'the field grows by a copy of its text',
  'overflow-anchor': 'Safari sets the position by script',
  'overflow-clip-margin': 'beside content-visibility only',
  'scrollbar-color': 'scroll bars look like those of other pages',
  resize: 'the field grows by itself',
};
/** Names of the highlighter and of agents' messages, not of the web platform. */
const OTHERS = ['configure', 'token'];

await ensureBuilt('react');
const { browserslist } = JSON.parse(readFileSync(new URL('package.json', REACT), 'utf8'));
const oldest = Object.fromEntries(
  browserslist.map((query) => {
    const [, name, version] = /^(\w+) >= ([\d.]+)$/.exec(query) ?? [];
    if (BROWSERS[name] === undefined) throw new Error(`browserslist: "${query}" is not like "chrome >= 123".`);
    return [BROWSERS[name], version];
  }),
);

const data = createRequire(import.meta.url).resolve('@mdn/browser-compat-data');
const features = featuresByName(JSON.parse(readFileSync(data, 'utf8')));
const files = readdirSync(new URL('dist/', REACT), { recursive: true, encoding: 'utf8' });
const own = namesInSources();
const used = new Map();
for (const file of files.filter((name) => /\.(?:js|css)$/.test(name))) {
  const text = readFileSync(new URL(`dist/${file}`, REACT), 'utf8');
  const names = file.endsWith('.js') ? namesInScript(text) : namesInStyle(text);
  for (const name of names) used.set(name, file);
}
const tooNew = [...used].flatMap(([name, file]) => {
  const plain = name.replace(/^.*:/, '');
  const lacking = (features.get(name) ?? []).map(lackingIn);
  if (
    lacking.length === 0 ||
    lacking.some((browsers) => browsers.length === 0) ||
    plain in IMPROVEMENTS ||
    own.has(name)
  )
    return [];
  return [`${file}: ${plain} is not in ${lacking[0].join(', ')}`];
});
const known = [...used.keys()].filter((name) => features.has(name)).length;
console.log(`${known} names of the platform in ${browserslist.join(', ')}`);
// Also fails if the data or the files have another form than expected, so that no name was compared.
if (known < 200) throw new Error('The built files or the compatibility data could not be read.');
for (const line of tooNew) console.error(line);
process.exitCode = tooNew.length === 0 ? 0 : 1;

/** The support of each feature, by `script:` or `style:` and its name. */
function featuresByName({ api, javascript, css }) {
  const found = new Map();
  const add = (kind, name, { __compat: compat }) => {
    if (compat === undefined) return;
    const key = `${kind}:${name.replace(/_(?:static|event|api)$/, '')}`;
    found.set(key, [...(found.get(key) ?? []), compat.support]);
  };
  const addAll = (kind, within, depth) => {
    for (const [name, feature] of Object.entries(within)) {
      if (name === '__compat') continue;
      add(kind, name, feature);
      if (depth > 1) addAll(kind, feature, depth - 1);
    }
  };
  addAll('script', api, 2);
  addAll('script', javascript.builtins, 2);
  addAll('property', css.properties, 1);
  addAll('selector', css.selectors, 1);
  addAll('rule', css['at-rules'], 1);
  addAll('function', css.types, 3);
  return found;
}

/** Members that the sources define themselves: as `name:` of an object or type, or as a method. */
function namesInSources() {
  const sources = readdirSync(new URL('src/', REACT), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(new URL(`src/${name}`, REACT), 'utf8'))
    .join('\n');
  const defined = [...sources.matchAll(/(?<![\w.])(\w+)\??:|^ {2}(?:async |get )?(\w+)\(/gm)];
  return new Set(
    [...OTHERS, ...defined.map(([, property, method]) => property ?? method)].map((name) => `script:${name}`),
  );
}

/** Members and globals of a script. */
function namesInScript(text) {
  const names = new Set();
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'MemberExpression' && node.property.type === 'Identifier' && !node.computed)
      names.add(`script:${node.property.name}`);
    else if (node.type === 'NewExpression' && node.callee.type === 'Identifier')
      names.add(`script:${node.callee.name}`);
    for (const value of Object.values(node)) if (typeof value === 'object') visit(value);
  };
  visit(parseAst(text));
  return names;
}

/** Properties, functions, pseudo-classes and at-rules of a style sheet. */
function namesInStyle(text) {
  const rules = text.replaceAll(/\/\*[\s\S]*?\*\/|"[^"]*"|'[^']*'/g, '');
  const all = (kind, pattern) => [...rules.matchAll(pattern)].map(([, name]) => `${kind}:${name}`);
  return [
    ...all('property', /(?<=[{;]\s*)([a-z-]+):/g),
    ...all('function', /\b([a-z-]+)\(/g),
    ...all('selector', /::?([a-z-]+)/g),
    ...all('rule', /@([a-z-]+)/g),
  ];
}

/** The oldest browsers that are supported and lack a feature. */
function lackingIn(support) {
  return Object.entries(oldest)
    .filter(([browser, version]) => ![support[browser] ?? []].flat().some((one) => isIn(one, version)))
    .map(([browser, version]) => `${browser} ${version}`);
}

function isIn({ version_added: added, version_removed: removed, flags }, version) {
  if (typeof added !== 'string' || added === 'preview' || flags !== undefined) return false;
  return isAtMost(added.replace('≤', ''), version) && (removed === undefined || !isAtMost(removed, version));
}

function isAtMost(one, other) {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  return a[0] < b[0] || (a[0] === b[0] && (a[1] ?? 0) <= (b[1] ?? 0));
}
