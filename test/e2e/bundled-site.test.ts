import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/documents.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** The functions of a module in JavaScript, used by `npm run test:installs` too, which tries every bundler. */
interface Visiting {
  startPlatform(): Promise<{ readonly env: NodeJS.ProcessEnv; close(): Promise<void> }>;
  withSite(
    command: readonly string[],
    place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
    use: (url: string, written: () => string) => Promise<void>,
  ): Promise<void>;
  visit(url: string): Promise<void>;
}

const FILES = join(ROOT, 'test/package/installs');
const run = promisify(execFile);

describe('a site bundled with all its packages, in an empty folder', { timeout: 60_000 }, () => {
  const folder = temporaryFolder('bundle');
  let visiting: Visiting;

  beforeAll(async () => {
    visiting = (await import(join(FILES, 'visit.mjs'))) as Visiting;
    await run(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--if-needed']);
    await run(process.execPath, [join(FILES, 'bundle.mjs'), 'vite build --ssr', join(FILES, 'site.mjs'), folder]);
  }, 120_000);

  const withBundle = async (env: NodeJS.ProcessEnv, use: Parameters<Visiting['withSite']>[2]): Promise<void> => {
    const platform = await visiting.startPlatform();
    const place = { cwd: folder, env: { ...platform.env, ...env } };
    await visiting.withSite([process.execPath, 'site.mjs'], place, use).finally(() => platform.close());
  };

  it('responds to a visitor', async () => {
    await withBundle({}, (url) => visiting.visit(url));
  });

  it('with CACHE_URL and without the library for Redis says at the start what to install, and responds', async () => {
    const visited = withBundle({ CACHE_URL: 'redis://127.0.0.1:1' }, async (url, written) => {
      await expect.poll(written, { timeout: 10_000 }).toMatch(/npm install @keyv\/redis/);
      await visiting.visit(url);
    });
    // A site that writes to its log fails the visit, with what it wrote.
    await expect(visited).rejects.toThrow(/The shared cache fails.*@keyv\/redis cannot be loaded/s);
  });
});

/** The program loads its commands once it knows that Node is new enough. */
const COMMAND_LINE = new Set(['cli.js', 'run-command.js']);

it('no file of the package that a site loads has import.meta, which Jest cannot load in CommonJS', () => {
  const files = ['chunks', 'composition'].flatMap((folder) =>
    readdirSync(join(ROOT, 'dist', folder))
      .filter((file) => file.endsWith('.js') && !COMMAND_LINE.has(file))
      .map((file) => join(ROOT, 'dist', folder, file)),
  );
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => /^(?!\s*(?:\/\/|\*)).*\bimport\.meta\b/m.test(readFileSync(file, 'utf8')))).toEqual([]);
});
