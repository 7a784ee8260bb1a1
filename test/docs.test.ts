import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

it('every TypeScript block of the documentation compiles against the package as it is built', async () => {
  const blocks = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => {
      const text = readFileSync(join(ROOT, 'docs', name), 'utf8');
      return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => ({
        file: `${name.replace('.md', '')}-${String(index + 1)}.ts`,
        code,
      }));
    });
  expect(blocks.length).toBeGreaterThan(5);

  // Inside the package, where its own name leads to its own declarations.
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const { file, code } of blocks) writeFileSync(join(folder, file), `${code}\nexport {};\n`);
  const settings = { noEmit: true, rootDir: '../..', isolatedDeclarations: false, skipLibCheck: true };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: settings, include: ['*.ts'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const failure = await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(failure).toMatchObject({ stdout: '' });
}, 60_000);
