import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { blocks, documents, ROOT } from './support/documents.js';

interface Example {
  readonly file: string;
  readonly code: string;
}

/** Declarations for the reader's own site and for libraries that are not installed here. */
const STAND_INS: Readonly<Record<string, string>> = {
  'auth.ts':
    'export declare const auth: import("agent-bff").SessionTokenSource & (() => Promise<object | null>) & { api: { listUserAccounts(input: unknown): Promise<object[]>; getAccessToken(input: unknown): Promise<{ accessToken: string }> } };',
  'lib/auth0.ts': "export declare const auth0: import('@auth0/nextjs-auth0/server').Auth0Client;",
  'libraries.d.ts': [
    "declare module '@vitejs/plugin-react' { export default function react(): import('vite').Plugin; }",
    "declare module 'iron-session' { export const getIronSession: (...parameters: unknown[]) => Promise<object>; }",
    'declare const Bun: { serve(options: { port: number; idleTimeout: number; fetch(request: Request): Promise<Response> }): unknown };',
    'declare const Deno: { serve(options: { port: number }, fetch: (request: Request) => Promise<Response>): unknown };',
    "declare module 'nitro' { export { defineHandler } from 'h3'; export const defineConfig: (config: { serverDir: string }) => object; }",
    "declare module '@sveltejs/adapter-node' { export default function adapter(): object; }",
    "declare module '@sveltejs/kit/vite' { export const sveltekit: (options: { adapter: object }) => import('vite').PluginOption; }",
    "declare module '@react-router/dev/routes' { export type RouteConfig = object[]; export const route: (path: string, file: string) => object; }",
    "declare module '@astrojs/node' { export default function node(options: { mode: 'standalone' }): object; }",
    "declare module '@auth0/nextjs-auth0/server' { export class Auth0Client { constructor(options: { authorizationParameters: { audience: string; scope: string } }); getAccessToken(): Promise<{ token: string; expiresAt: number }>; middleware(request: Request): Promise<Response>; } }",
    "declare module 'astro/config' { export const defineConfig: (config: { adapter: object }) => object; }",
    "declare module 'koa-static' { export default function serve(folder: string): import('koa').Middleware; }",
    "declare module 'next-auth/jwt' { export const getToken: (parameters: object) => Promise<unknown>; }",
  ].join('\n'),
};

const LENIENT = {
  strict: false,
  exactOptionalPropertyTypes: false,
  noPropertyAccessFromIndexSignature: false,
  noUncheckedIndexedAccess: false,
  noUnusedLocals: false,
};

/** Declarations for the code around a JavaScript example. */
const SITE = [
  "declare const app: import('express').Express;",
  "declare const express: typeof import('express');",
  'declare const token: string;',
  "declare const routes: import('fastify').FastifyInstance;",
  'declare const routed: WeakSet<object>;',
  "declare module 'http' { interface IncomingMessage { rawBody?: unknown } }",
].join('\n');

function examplesOf(name: string, text: string, language: string): Example[] {
  return blocks(text)
    .filter((block) => block.language === language)
    .map(({ code }, index) => ({
      file: `${name.replaceAll(/\W/g, '-')}-${String(index + 1)}.${language === 'tsx' ? 'tsx' : 'ts'}`,
      code,
    }));
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

/** Declarations that the examples in the components' doc comments rely on. */
const COMPONENTS = `import { useRef } from 'react';
import { A2AChat, A2AChatFloating, type A2AChatHandle, ServiceSurface, useA2AChat, useServiceSurface } from 'agent-bff-react';
`;

/** The text of doc comments without the leading asterisks. */
function comments(source: string): string {
  return [...source.matchAll(/^ +\* ?(.*)$/gm)].map(([, line = '']) => line).join('\n');
}

it('every TypeScript and JavaScript example in the documents and doc comments compiles against the built package', async () => {
  const inDocuments = (language: string): Example[] =>
    documents().flatMap(({ file, text }) => examplesOf(file, text, language));
  const inComments = sources('src').flatMap((file) =>
    examplesOf(file, comments(readFileSync(join(ROOT, file), 'utf8')), 'ts'),
  );
  const inComponents = sources('react/src').flatMap((file) =>
    examplesOf(file, comments(readFileSync(join(ROOT, file), 'utf8')), 'tsx').map((example) => ({
      ...example,
      code: COMPONENTS + example.code,
    })),
  );
  const [typeScript, javaScript] = [[...inDocuments('ts'), ...inDocuments('tsx')], inDocuments('js')];
  expect(inComponents.length).toBeGreaterThan(6);
  expect(typeScript.length).toBeGreaterThan(30);
  expect(javaScript.length).toBeGreaterThan(5);
  expect(inComments.length).toBeGreaterThan(20);
  const said = await Promise.all([
    compile(typeScript, {}),
    // Not type-checked strictly, as the reader uses JavaScript. Names, options and arguments must still be right.
    compile(javaScript, LENIENT, SITE),
    // An example in a doc comment may leave its result unused.
    compile(inComments, { noUnusedLocals: false }),
    compile(inComponents, { noUnusedLocals: false }),
  ]);
  expect(said).toEqual(['', '', '', '']);
}, 60_000);

/** The compiler's errors for some examples. They are compiled inside the package, so that its name resolves to its own declarations. */
async function compile(examples: readonly Example[], further: object, globals = ''): Promise<string> {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const { file, code } of examples) writeFileSync(join(folder, file), `${code}\nexport {};\n`);
  mkdirSync(join(folder, 'lib'));
  // Frameworks that are not installed at the root.
  symlinkSync(join(ROOT, 'test/site/frameworks/node_modules'), join(folder, 'node_modules'), 'junction');
  for (const [file, code] of Object.entries(STAND_INS)) writeFileSync(join(folder, file), `${code}\n`);
  writeFileSync(join(folder, 'site.d.ts'), `${globals}\n`);
  const settings = {
    noEmit: true,
    rootDir: '../..',
    declaration: false,
    isolatedDeclarations: false,
    skipLibCheck: true,
    jsx: 'react-jsx',
    paths: { '@/*': ['./*.ts'] },
    ...further,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: settings, include: ['*.ts', '*.tsx'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder]);
  return (await run.catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout;
}
