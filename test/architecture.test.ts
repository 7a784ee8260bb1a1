import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** What the files of one folder may import besides each other. */
interface Rule {
  readonly folders: readonly string[];
  /** Folders of which only types may be imported. */
  readonly types?: readonly string[];
  /** Packages; with `types`, only by `import type`. */
  readonly packages?: Readonly<Record<string, 'types' | 'code'>>;
  readonly node?: 'types' | 'code';
}

const SHARED = 'domain/shared';
const PORTS_ONLY: Rule = { folders: ['ports', SHARED], node: 'code' };
const FRAMEWORK: Rule = {
  folders: ['ports', SHARED, 'adapters/web', 'adapters/node', 'adapters/fetch'],
  node: 'types',
};
const adapterFor = (name: string, use: 'types' | 'code' = 'code'): Rule => ({
  ...PORTS_ONLY,
  packages: { [name]: use },
});
const providerFor = (name: string): Rule => ({
  ...adapterFor(name),
  folders: ['ports', SHARED, 'adapters/oauth', 'adapters/keys'],
});

/** The import table of the design. A folder without a row may not exist; there are no exemptions. */
const TABLE: Readonly<Record<string, Rule>> = {
  [SHARED]: { folders: [] },
  ports: { folders: [], types: [SHARED] },
  domain: { folders: ['ports', SHARED] },
  'adapters/web': { folders: ['ports', 'domain', SHARED] },
  'adapters/node': PORTS_ONLY,
  'adapters/fetch': { folders: ['ports', SHARED] },
  'adapters/express': FRAMEWORK,
  'adapters/koa': FRAMEWORK,
  'adapters/next': FRAMEWORK,
  'adapters/fastify': FRAMEWORK,
  'adapters/hono': FRAMEWORK,
  'adapters/undici': adapterFor('undici'),
  'adapters/keyv': { ...PORTS_ONLY, packages: { keyv: 'code', '@keyv/redis': 'code' } },
  'adapters/service-account': providerFor('jose'),
  'adapters/keys': PORTS_ONLY,
  'adapters/oauth': PORTS_ONLY,
  'adapters/idp-a': providerFor('openid-client'),
  'adapters/idp-b': providerFor('@azure/msal-node'),
  'adapters/telemetry': adapterFor('@opentelemetry/api', 'types'),
  'adapters/rate-limit': PORTS_ONLY,
  'adapters/sessions': PORTS_ONLY,
  'adapters/system': PORTS_ONLY,
  'adapters/fakes': PORTS_ONLY,
};
/** It wires everything together: it may import everything, and nobody may import it. */
const COMPOSITION = 'composition';

/** What would give the domain a clock, a network or a platform of its own. */
const IMPURE: readonly RegExp[] = [
  ...['process', 'Buffer', 'setTimeout', 'setInterval', 'performance', 'globalThis', 'crypto'].map(word),
  /\bfetch\s*\(/,
  /\bDate\s*\.\s*now\b/,
  /\bnew\s+Date\b/,
  /\bMath\s*\.\s*random\b/,
];
const VAGUE_NAMES = ['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'managers', 'impl'];
const MAX_LINES = 500;
const MIN_FILES = 25;

function word(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name}(?![\\w$])`);
}

interface SourceFile {
  /** Below `src`, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

function violations(file: SourceFile): readonly string[] {
  const tokens = tokenize(file.text);
  return [...importViolations(file, tokens), ...purityViolations(file, tokens), ...fileViolations(file, tokens)];
}

function importViolations({ path }: SourceFile, tokens: readonly Token[]): readonly string[] {
  const home = folderOf(path);
  const rule = TABLE[home];
  if (home === COMPOSITION) return [];
  if (rule === undefined) return [`${path}: the folder "${home}" has no row in the import table`];
  return importsOf(tokens).flatMap(({ specifier, typeOnly }) => {
    const refused = [`${path}: may not import "${specifier}"${typeOnly ? ' (type)' : ''}`];
    if (specifier.startsWith('.')) {
      const target = folderOf(posix.join(posix.dirname(path), specifier));
      const isType = typeOnly && rule.types?.includes(target) === true;
      return target === home || rule.folders.includes(target) || isType ? [] : refused;
    }
    const permission = specifier.startsWith('node:') ? rule.node : rule.packages?.[packageOf(specifier)];
    return permission === 'code' || (permission === 'types' && typeOnly) ? [] : refused;
  });
}

function purityViolations({ path }: SourceFile, tokens: readonly Token[]): readonly string[] {
  if (!['domain', SHARED, 'ports'].includes(folderOf(path))) return [];
  const code = tokens.map(({ kind, text }) => (kind === 'string' ? "''" : text)).join(' ');
  return IMPURE.filter((pattern) => pattern.test(code)).map((pattern) => `${path}: mentions ${pattern.source}`);
}

function fileViolations({ path, text }: SourceFile, tokens: readonly Token[]): readonly string[] {
  const found: string[] = [];
  const segments = path.replace(/(?:\.d)?\.ts$/, '').split('/');
  for (const segment of segments) {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(segment)) found.push(`${path}: "${segment}" is not kebab-case`);
    const vague = segment.split('-').find((part) => VAGUE_NAMES.includes(part));
    if (vague !== undefined) found.push(`${path}: "${vague}" says nothing`);
  }
  const lines = text.trimEnd().split('\n').length;
  if (lines > MAX_LINES) found.push(`${path}: ${lines} lines, more than ${MAX_LINES}`);
  tokens.forEach(({ text: keyword }, index) => {
    const name = tokens[index + 1]?.text ?? '';
    const isExported = ['export', 'declare', 'default'].includes(tokens[index - 1]?.text ?? '');
    if (keyword === 'interface' && isExported && /^I[A-Z][a-z]/.test(name)) found.push(`${path}: interface ${name}`);
  });
  return found;
}

/** `ports`, `domain`, `domain/shared`, `composition` or `adapters/<name>`; anything else is no layer of ours. */
function folderOf(path: string): string {
  const [layer = '', name = ''] = path.split('/');
  if (layer === '..') return 'outside of src';
  if (!path.includes('/')) return 'src itself';
  if (path.startsWith(`${SHARED}/`)) return SHARED;
  return layer === 'adapters' ? (path.split('/').length > 2 ? `adapters/${name}` : 'adapters itself') : layer;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Every import, export-from, `import()`, `import()` type and `require()`; a computed specifier is one too. */
function importsOf(tokens: readonly Token[]): readonly Import[] {
  const found: Import[] = [];
  tokens.forEach((token, index) => {
    const before = tokens[index - 1]?.text ?? '';
    const isCall = token.text === '(' && ['import', 'require'].includes(before) && tokens[index - 2]?.text !== '.';
    if (isCall) {
      const argument = tokens[index + 1];
      found.push({ specifier: argument?.kind === 'string' ? argument.text : '<computed>', typeOnly: false });
    } else if (token.kind === 'string' && ['import', 'from'].includes(before) && tokens[index - 1]?.kind === 'code') {
      found.push({ specifier: token.text, typeOnly: isTypeOnly(tokens.slice(0, index - 1)) });
    }
  });
  return found;
}

/** Whether the clause that ends here began with `import type` or `export type`; `{ type X }` still runs the module. */
function isTypeOnly(clause: readonly Token[]): boolean {
  const start = clause.findLastIndex(({ kind, text }) => kind === 'code' && (text === 'import' || text === 'export'));
  return start !== -1 && clause[start + 1]?.text === 'type' && clause.length > start + 2;
}

interface Token {
  readonly kind: 'code' | 'string';
  readonly text: string;
}

const TOKEN = {
  space: /\s+/y,
  comment: /\/\/[^\n]*|\/\*[\s\S]*?\*\//y,
  word: /[\p{ID_Start}$_#@][\p{ID_Continue}$]*|\d[\w.]*/uy,
  string: /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y,
  regex: /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/\w*/y,
  /** The text of a template up to its end or to the next substitution. */
  template: /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y,
};
const BEFORE_REGEX = /^(?:[([{,;=:?!&|<>+\-*%~^}]|return|typeof|case|in|of|void|throw|await|yield)$/;

/** Cuts TypeScript into words, signs and string contents; comments and regular expressions are left out. */
function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const open: string[] = []; // `{` for a block, '${' for a substitution
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [match] = pattern.exec(text) ?? [];
    at += match?.length ?? 0;
    return match;
  };
  const takeTemplate = (): void => {
    const part = take(TOKEN.template) ?? '';
    tokens.push({ kind: 'string', text: part.replace(/(`|\$\{)$/, '') });
    if (part.endsWith('${')) open.push('${');
  };

  while (at < text.length) {
    if (take(TOKEN.space) !== undefined || take(TOKEN.comment) !== undefined) continue;
    const previous = tokens.at(-1);
    const mayBeRegex = previous === undefined || (previous.kind === 'code' && BEFORE_REGEX.test(previous.text));
    if (mayBeRegex && take(TOKEN.regex) !== undefined) {
      tokens.push({ kind: 'string', text: '' });
      continue;
    }
    const string = take(TOKEN.string);
    if (string !== undefined) {
      tokens.push({ kind: 'string', text: string.slice(1, -1) });
      continue;
    }
    const name = take(TOKEN.word);
    if (name !== undefined) {
      tokens.push({ kind: 'code', text: name });
      continue;
    }
    const sign = text.charAt(at);
    at += 1;
    if (sign === '`') {
      takeTemplate();
    } else if (sign === '}' && open.pop() === '${') {
      takeTemplate();
    } else {
      if (sign === '{') open.push('{');
      tokens.push({ kind: 'code', text: sign });
    }
  }
  return tokens;
}

function readSources(): readonly SourceFile[] {
  const root = fileURLToPath(new URL('../src', import.meta.url));
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = `${entry.parentPath}/${entry.name}`.replaceAll('\\', '/');
      return { path: posix.relative(root.replaceAll('\\', '/'), file), text: readFileSync(file, 'utf8') };
    });
}

describe('architecture', () => {
  const sources = readSources();

  it(`reads at least ${MIN_FILES} files of src, and imports in them`, () => {
    expect(sources.length).toBeGreaterThanOrEqual(MIN_FILES);
    expect(sources.flatMap(({ text }) => importsOf(tokenize(text))).length).toBeGreaterThanOrEqual(MIN_FILES);
  });

  it('holds in every file of src', () => {
    expect(sources.flatMap(violations)).toEqual([]);
  });

  describe('bites', () => {
    const bad: Readonly<Record<string, readonly [path: string, text: string]>> = {
      'a domain file that imports an adapter': ['domain/a.ts', `import { b } from '../adapters/web/b.js';`],
      'a path that hides its start': ['domain/a.ts', `import { b } from './../adapters/web/b.js';`],
      'a path that hides in the middle': [
        'domain/chat/a.ts',
        `import { b } from '../credentials/../../adapters/web/b.js';`,
      ],
      'a type import': ['ports/a.ts', `import type { B } from '../domain/b.js';`],
      'a port, from the shared folder': ['domain/shared/a.ts', `import type { B } from '../../ports/b.js';`],
      'the domain, from the shared folder': ['domain/shared/a.ts', `import { B } from '../errors.js';`],
      'code of the shared folder, from a port': ['ports/a.ts', `import { B } from '../domain/shared/b.js';`],
      'the rest of the domain, from an adapter': [
        'adapters/sessions/a.ts',
        `import { B } from '../../domain/errors.js';`,
      ],
      'a clock in the shared folder': ['domain/shared/a.ts', 'const a = Date.now();'],
      'a side effect import': ['domain/a.ts', `import 'reflect-metadata';`],
      'an import over several lines': ['domain/a.ts', `import {\n  // from './b.js'\n  b,\n} from\n  'jose';`],
      'export … from': ['domain/a.ts', `export { b } from '../adapters/web/b.js';`],
      'export * from': ['domain/a.ts', `export * from "../adapters/web/b.js";`],
      'export type … from': ['adapters/web/a.ts', `export type { B } from '../express/b.js';`],
      'a dynamic import': ['domain/a.ts', `const load = () => import('../adapters/web/b.js');`],
      'a dynamic import in a template': ['domain/a.ts', 'const a = `x ${await import(`jose`)} y`;'],
      'a computed import': ['adapters/idp-a/a.ts', `const load = (name: string) => import(name);`],
      'an import() type': ['ports/a.ts', `export type A = import('node:http').IncomingMessage;`],
      require: ['domain/a.ts', `const b = require('node:fs');`],
      'import = require': ['domain/a.ts', `import b = require('node:fs');`],
      'an import after a regular expression': ['domain/a.ts', `const a = /['"\`/*]/; import 'jose'; /* */`],
      'a built-in module without node:': ['adapters/system/a.ts', `import { readFile } from 'fs';`],
      'the package by its own name': ['adapters/web/a.ts', `import { configureServer } from 'agent-bff';`],
      'composition, from an adapter': ['adapters/next/a.ts', `import { b } from '../../composition/b.js';`],
      'inversify outside of composition': ['adapters/web/a.ts', `import { Container } from 'inversify';`],
      'a framework': ['adapters/express/a.ts', `import type { Router } from 'express';`],
      'node: at run time in a framework adapter': ['adapters/koa/a.ts', `import { type Server } from 'node:http';`],
      'node: in the routes': ['adapters/web/a.ts', `import type { Server } from 'node:http';`],
      'the domain, from the node bridge': ['adapters/node/a.ts', `import { b } from '../../domain/b.js';`],
      'node: in the bridge to Web requests': ['adapters/fetch/a.ts', `import type { Server } from 'node:http';`],
      "another adapter's package": ['adapters/idp-a/a.ts', `import { SignJWT } from 'jose';`],
      'another adapter': ['adapters/idp-a/a.ts', `import { b } from '../idp-b/b.js';`],
      'a types-only package at run time': ['adapters/telemetry/a.ts', `import { trace } from '@opentelemetry/api';`],
      'a path out of src': ['domain/a.ts', `import b from '../../package.json';`],
      'an adapter without a row': ['adapters/unheard-of/a.ts', ''],
      'a file outside of the layers': ['a.ts', ''],
      process: ['domain/a.ts', 'const a = process.env;'],
      Buffer: ['ports/a.ts', 'export type A = Buffer;'],
      fetch: ['domain/a.ts', 'await fetch(url);'],
      'Date.now': ['domain/a.ts', 'const a = Date\n  .now();'],
      'new Date': ['domain/a.ts', 'const a = new Date();'],
      'a timer': ['domain/a.ts', 'setTimeout(a, 1);'],
      globalThis: ['domain/a.ts', "const a = globalThis['fetch'];"],
      chance: ['domain/a.ts', 'const a = Math.random();'],
      'impurity in a template': ['domain/a.ts', 'const a = `${ { b: crypto.randomUUID() }.b }`;'],
      'a file name in camel case': ['domain/chatForwarder.ts', ''],
      'a vague file name': ['domain/chat-helpers.ts', ''],
      'a vague folder name': ['domain/common/chat.ts', ''],
      'a file that is not TypeScript': ['domain/a.js', ''],
      'a long file': ['domain/a.ts', 'const a = 1;\n'.repeat(MAX_LINES + 1)],
      'an I prefix': ['ports/a.ts', 'export interface ICacheStore {}'],
    };
    it.each(Object.entries(bad))('on %s', (_name, [path, text]) => {
      expect(violations({ path, text })).toHaveLength(1);
    });
  });

  describe('lets pass', () => {
    const good: Readonly<Record<string, readonly [path: string, text: string]>> = {
      'its own layer and the layer below': [
        'domain/chat/a.ts',
        `import { b } from '../errors.js'; import type { C } from '../../ports/c.js';`,
      ],
      'the shared folder, from an adapter': ['adapters/sessions/a.ts', `import { b } from '../../domain/shared/b.js';`],
      'types of the shared folder, from a port': ['ports/a.ts', `import type { B } from '../domain/shared/b.js';`],
      comments: ['domain/a.ts', `// import 'jose'; process.env\n/* import('jose') */ const a = 1;`],
      strings: ['domain/a.ts', `const a = "import 'jose'" + 'process' + \`fetch( import('jose')\`;`],
      'words that only contain a forbidden one': ['domain/a.ts', 'const a = processed + prefetch(b) + update.now;'],
      'the package of the adapter': ['adapters/idp-b/a.ts', `const a = await import('@azure/msal-node');`],
      'a subpath of it': ['adapters/service-account/a.ts', `import { SignJWT } from 'jose/jwt/sign';`],
      'types of node: in a framework adapter': ['adapters/express/a.ts', `import type { Server } from 'node:http';`],
      'the bridge to Web requests, in a framework adapter': [
        'adapters/next/a.ts',
        `import { b } from '../fetch/b.js';`,
      ],
      'the routes, in a framework adapter': ['adapters/next/a.ts', `import { b } from '../web/b.js';`],
      'types of a types-only package': ['adapters/telemetry/a.ts', `import type { Tracer } from '@opentelemetry/api';`],
      'anything, in composition': [
        'composition/a.ts',
        `import 'reflect-metadata'; import { b } from '../adapters/idp-a/b.js'; process.env;`,
      ],
      'an interface that starts with I': [
        'ports/a.ts',
        'export interface IdentityProvider {} export interface IdpA {}',
      ],
    };
    it.each(Object.entries(good))('%s', (_name, [path, text]) => {
      expect(violations({ path, text })).toEqual([]);
    });
  });
});
