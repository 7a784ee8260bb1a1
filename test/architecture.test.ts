import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ESTree, parseSync, Visitor, type VisitorObject } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

/** The imports allowed in the files of one folder, besides each other. */
interface Rule {
  readonly folders: readonly string[];
  /** Folders that may be imported for their types only. */
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
const TIMED: Rule = { ...PORTS_ONLY, folders: [...PORTS_ONLY.folders, 'adapters/system'] };
const PROVIDER: Rule = { ...PORTS_ONLY, folders: ['ports', SHARED, 'adapters/oauth', 'adapters/keys'] };
const providerFor = (name: string): Rule => ({ ...adapterFor(name), ...PROVIDER });

/** The import table of the design. A folder without a row may not exist; there are no exemptions. */
const TABLE: Readonly<Record<string, Rule>> = {
  [SHARED]: { folders: [], types: ['ports'] },
  ports: { folders: [] },
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
  'adapters/content-disposition': adapterFor('content-disposition'),
  'adapters/keyv': { ...TIMED, packages: { keyv: 'code', '@keyv/redis': 'code' } },
  'adapters/memory': adapterFor('lru-cache'),
  'adapters/css': adapterFor('@csstools/css-tokenizer'),
  'adapters/service-account': providerFor('jose'),
  'adapters/keys': PORTS_ONLY,
  'adapters/oauth': PORTS_ONLY,
  'adapters/idp-a': providerFor('openid-client'),
  'adapters/idp-b': providerFor('@azure/msal-node'),
  'adapters/telemetry': adapterFor('@opentelemetry/api', 'types'),
  'adapters/rate-limit': TIMED,
  'adapters/sessions': PORTS_ONLY,
  'adapters/system': PORTS_ONLY,
  'adapters/fakes': PORTS_ONLY,
};
/** Wires everything together: may import everything, and must not be imported. */
const COMPOSITION = 'composition';

/** Names that would give the domain a clock, a network or a platform. */
const IMPURE_NAMES = ['process', 'Buffer', 'setTimeout', 'setInterval', 'performance', 'globalThis', 'crypto'];
const IMPURE_MEMBERS = ['Date.now', 'Math.random'];
const VAGUE_NAMES = ['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'managers', 'impl'];
const MAX_LINES = 500;
const MIN_FILES = 25;

interface SourceFile {
  /** Below `src`, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

function violations(file: SourceFile): readonly string[] {
  return [...importViolations(file), ...purityViolations(file), ...fileViolations(file)];
}

/** Visits the syntax tree of the whole file. */
function visit({ path, text }: SourceFile, visitor: VisitorObject): void {
  const { program, errors } = parseSync(path, text, { sourceType: 'module' });
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join()}`);
  new Visitor(visitor).visit(program);
}

function importViolations(file: SourceFile): readonly string[] {
  const { path } = file;
  const home = folderOf(path);
  const rule = TABLE[home];
  if (home === COMPOSITION) return [];
  if (rule === undefined) return [`${path}: the folder "${home}" has no row in the import table`];
  return importsOf(file).flatMap(({ specifier, typeOnly }) => {
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

function purityViolations(file: SourceFile): readonly string[] {
  const { path } = file;
  if (!['domain', SHARED, 'ports'].includes(folderOf(path))) return [];
  const found: string[] = [];
  const refuse = (name: string, isImpure: boolean): void => void (isImpure && found.push(`${path}: mentions ${name}`));
  visit(file, {
    Identifier: ({ name }) => refuse(name, IMPURE_NAMES.includes(name)),
    MemberExpression: (member) => refuse(nameOf(member), IMPURE_MEMBERS.includes(nameOf(member))),
    CallExpression: ({ callee }) => refuse('fetch', nameOf(callee).split('.').at(-1) === 'fetch'),
    NewExpression: ({ callee }) => refuse('new Date', nameOf(callee) === 'Date'),
  });
  return found;
}

/** `a` or `a.b`; empty for anything longer or computed. */
function nameOf(node: ESTree.Node): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression' || node.computed || node.object.type !== 'Identifier') return '';
  return node.property.type === 'Identifier' ? `${node.object.name}.${node.property.name}` : '';
}

function fileViolations(file: SourceFile): readonly string[] {
  const { path, text } = file;
  const found: string[] = [];
  const segments = path.replace(/(?:\.d)?\.ts$/, '').split('/');
  for (const segment of segments) {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(segment)) found.push(`${path}: "${segment}" is not kebab-case`);
    const vague = segment.split('-').find((part) => VAGUE_NAMES.includes(part));
    if (vague !== undefined) found.push(`${path}: "${vague}" says nothing`);
  }
  const lines = text.trimEnd().split('\n').length;
  if (lines > MAX_LINES) found.push(`${path}: ${lines} lines, more than ${MAX_LINES}`);
  visit(file, {
    TSInterfaceDeclaration: ({ id: { name } }) => {
      if (/^I[A-Z][a-z]/.test(name)) found.push(`${path}: interface ${name}`);
    },
  });
  return found;
}

/** `ports`, `domain`, `domain/shared`, `composition` or `adapters/<name>`; anything else is not a layer. */
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

/** Every import, export-from, `import()`, `import()` type and `require()`, including computed specifiers. */
function importsOf(file: SourceFile): readonly Import[] {
  const found: Import[] = [];
  const add = (source: ESTree.Node | null | undefined, kind: 'type' | 'value' | null = 'value'): void => {
    if (source) found.push({ specifier: textOf(source) ?? '<computed>', typeOnly: kind === 'type' });
  };
  visit(file, {
    // `import { type X }` and `export { type X }` still run the module.
    ImportDeclaration: ({ source, importKind }) => add(source, importKind),
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind),
    ImportExpression: ({ source }) => add(source),
    TSImportType: ({ source }) => add(source),
    TSExternalModuleReference: ({ expression }) => add(expression),
    CallExpression: ({ callee, arguments: [argument] }) => add(nameOf(callee) === 'require' ? argument : undefined),
  });
  return found;
}

/** A string literal. */
function textOf(node: ESTree.Node): string | undefined {
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]?.value.raw;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

/** Pairs of folders of the domain that import each other, directly or by way of others. */
function mutualImports(sources: readonly SourceFile[]): readonly string[] {
  const reached = new Map<string, Set<string>>();
  for (const file of sources) {
    const home = posix.dirname(file.path);
    if (!home.startsWith('domain/')) continue;
    const targets = importsOf(file).map(({ specifier }) => posix.dirname(posix.join(home, specifier)));
    reached.set(home, new Set([...(reached.get(home) ?? []), ...targets.filter((target) => target !== home)]));
  }
  // A set that grows while it is walked is walked to its end.
  for (const targets of reached.values())
    for (const target of targets) for (const next of reached.get(target) ?? []) targets.add(next);
  const isMutual = (one: string, two: string): boolean =>
    one < two && reached.get(one)?.has(two) === true && reached.get(two)?.has(one) === true;
  const folders = [...reached.keys()].toSorted();
  return folders.flatMap((one) => folders.filter((two) => isMutual(one, two)).map((two) => `${one} and ${two}`));
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

describe('the architecture', () => {
  const sources = readSources();

  it(`covers at least ${MIN_FILES} files of src and their imports`, () => {
    expect(sources.length).toBeGreaterThanOrEqual(MIN_FILES);
    expect(sources.flatMap(importsOf).length).toBeGreaterThanOrEqual(MIN_FILES);
  });

  it('is respected in every file of src', () => {
    expect(sources.flatMap(violations)).toEqual([]);
  });

  it('has no two folders of the domain that import each other', () => {
    expect(mutualImports(sources)).toEqual([]);
    const pair = [
      { path: 'domain/a/x.ts', text: `import type { Y } from '../b/y.js';` },
      { path: 'domain/b/y.ts', text: `import { X } from '../a/x.js';` },
    ];
    expect(mutualImports(pair)).toEqual(['domain/a and domain/b']);
  });

  describe('the import table', () => {
    const bad: Readonly<Record<string, readonly [path: string, text: string]>> = {
      'a domain file that imports an adapter': ['domain/a.ts', `import { b } from '../adapters/web/b.js';`],
      'a path that starts with "./.."': ['domain/a.ts', `import { b } from './../adapters/web/b.js';`],
      'a path with ".." in the middle': [
        'domain/chat/a.ts',
        `import { b } from '../credentials/../../adapters/web/b.js';`,
      ],
      'a type import': ['ports/a.ts', `import type { B } from '../domain/b.js';`],
      'code of a port, from the shared folder': ['domain/shared/a.ts', `import { B } from '../../ports/b.js';`],
      'a type of the shared folder, from a port': ['ports/a.ts', `import type { B } from '../domain/shared/b.js';`],
      'the domain, from the shared folder': ['domain/shared/a.ts', `import { B } from '../errors.js';`],
      'the rest of the domain, from an adapter': [
        'adapters/sessions/a.ts',
        `import { B } from '../../domain/errors.js';`,
      ],
      'a clock in the shared folder': ['domain/shared/a.ts', 'const a = Date.now();'],
      'a side effect import': ['domain/a.ts', `import 'reflect-metadata';`],
      'export … from': ['domain/a.ts', `export { b } from '../adapters/web/b.js';`],
      'export * from': ['domain/a.ts', `export * from "../adapters/web/b.js";`],
      'export type … from': ['adapters/web/a.ts', `export type { B } from '../express/b.js';`],
      'a dynamic import': ['domain/a.ts', `const load = () => import('../adapters/web/b.js');`],
      'a dynamic import in a template': ['domain/a.ts', 'const a = `x ${await import(`jose`)} y`;'],
      'a computed import': ['adapters/idp-a/a.ts', `const load = (name: string) => import(name);`],
      'an import() type': ['ports/a.ts', `export type A = import('node:http').IncomingMessage;`],
      require: ['domain/a.ts', `const b = require('node:fs');`],
      'import = require': ['domain/a.ts', `import b = require('node:fs');`],
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
      'a file name in camel case': ['domain/chatForwarder.ts', ''],
      'a vague file name': ['domain/chat-helpers.ts', ''],
      'a vague folder name': ['domain/common/chat.ts', ''],
      'a file that is not TypeScript': ['domain/a.js', ''],
      'a long file': ['domain/a.ts', 'const a = 1;\n'.repeat(MAX_LINES + 1)],
      'an I prefix': ['ports/a.ts', 'export interface ICacheStore {}'],
    };
    it.each(Object.entries(bad))('rejects %s', (_name, [path, text]) => {
      expect(violations({ path, text })).toHaveLength(1);
    });
  });
});
