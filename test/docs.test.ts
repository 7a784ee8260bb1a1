import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Block {
  readonly file: string;
  readonly code: string;
}

/** What an example takes from its reader's own site, or from a library that is not installed here. */
const STAND_INS: Readonly<Record<string, string>> = {
  'auth.ts':
    'export declare const auth: (() => Promise<object | null>) & { api: { getAccessToken(input: unknown): Promise<{ accessToken: string }> } };',
  'lib/auth0.ts':
    'export declare const auth0: { getAccessToken(): Promise<{ readonly token: string; readonly expiresAt: number }> };',
  'libraries.d.ts': [
    "declare module 'iron-session' { export const getIronSession: (...parameters: unknown[]) => Promise<object>; }",
    'declare const Bun: { serve(options: { port: number; idleTimeout: number; fetch(request: Request): Promise<Response> }): unknown };',
    'declare const Deno: { serve(options: { port: number }, fetch: (request: Request) => Promise<Response>): unknown };',
    "declare module 'next-auth/jwt' { export const getToken: (parameters: object) => Promise<unknown>; }",
  ].join('\n'),
};

function blocksOf(name: string, text: string): Block[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => ({
    file: `${name.replaceAll(/\W/g, '-')}-${String(index + 1)}.ts`,
    code,
  }));
}

function files(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

/** The text of doc comments, without the stars before its lines. */
function comments(source: string): string {
  return [...source.matchAll(/^ \* ?(.*)$/gm)].map(([, line = '']) => line).join('\n');
}

it('every TypeScript block of the documents and the doc comments compiles against the package as it is built', async () => {
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const documents = files('docs', '.md').flatMap((file) => blocksOf(file, read(file)));
  const examples = files('src', '.ts').flatMap((file) => blocksOf(file, comments(read(file))));
  expect(documents.length).toBeGreaterThan(5);
  expect(examples.length).toBeGreaterThan(20);
  expect(await compile(documents, {})).toBe('');
  // An example in a doc comment ends with what it made.
  expect(await compile(examples, { noUnusedLocals: false })).toBe('');
}, 60_000);

/** What the compiler says of some blocks, in a folder inside the package, where its own name leads to its own declarations. */
async function compile(blocks: readonly Block[], further: object): Promise<string> {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const { file, code } of blocks) writeFileSync(join(folder, file), `${code}\nexport {};\n`);
  mkdirSync(join(folder, 'lib'));
  // The frameworks that the root does not install.
  symlinkSync(join(ROOT, 'test/site/frameworks/node_modules'), join(folder, 'node_modules'), 'junction');
  for (const [file, code] of Object.entries(STAND_INS)) writeFileSync(join(folder, file), `${code}\n`);
  const settings = { noEmit: true, rootDir: '../..', isolatedDeclarations: false, skipLibCheck: true, ...further };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: settings, include: ['*.ts'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder]);
  return (await run.catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout;
}
