import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { blocks, ROOT } from './support/documents.js';

it('the example test of a site in the README passes', async () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const example = blocks(readme).find(({ code }) => code.includes("from 'supertest'"));
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  // Inside the package, where its own name resolves to the build.
  const folder = mkdtempSync(join(ROOT, 'temp', 'testing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'site.test.mjs');
  writeFileSync(file, example?.code ?? '');
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file]);
  expect(stdout).toContain('ok 1 - a message reaches the agent with the key of the site');
  expect(stdout).toContain('# pass 1');
}, 60_000);
