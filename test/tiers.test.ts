import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/documents.js';

const TESTS = join(ROOT, 'test');

/** The test files that vitest finds below `test`. */
async function filesOf(tier: 'quick' | 'all'): Promise<readonly string[]> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, 'list', '--filesOnly', '--json'], {
    cwd: ROOT,
    env: { ...process.env, TEST_TIER: tier },
  });
  const found = JSON.parse(stdout.slice(stdout.indexOf('['))) as readonly { readonly file: string }[];
  return [...new Set(found.map(({ file }) => relative(TESTS, file).replaceAll('\\', '/')))].sort();
}

describe('the test files', { timeout: 60_000 }, () => {
  it('are all run by npm test -- --all', async () => {
    const named = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => /\.(?:test|spec|test-d)\.[cm]?[jt]sx?$/.test(file) && !file.includes('node_modules/'));
    const all = await filesOf('all');
    expect(all.length).toBeGreaterThan(200);
    expect(all).toEqual(named.sort());
  });

  it('run by npm test cover every layer and the site suite on Express, node:http and Web', async () => {
    const [quick, all] = await Promise.all([filesOf('quick'), filesOf('all')]);
    const folders = new Set(quick.map((file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')));
    expect([...folders].sort()).toEqual(['', 'adapters', 'composition', 'domain', 'react', 'site']);
    expect(quick.filter((file) => file.startsWith('site/'))).toEqual([
      'site/express-5.test.ts',
      'site/hono.test.ts',
      'site/node-http.test.ts',
    ]);
    expect(quick.filter((file) => !all.includes(file))).toEqual([]);
  });

  it('run by npm test read no built components, which a fresh clone does not have', async () => {
    const readers = (await filesOf('quick')).filter((file) =>
      /'agent-bff-react|react\/dist/.test(readFileSync(join(TESTS, file), 'utf8')),
    );
    expect(readers).toEqual([]);
  });

  it('are all run by .ci/run without skipping', () => {
    const script = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    expect(script).toMatch(/^npm test -- --all( |$)/m);
    expect(script).toMatch(/^export REQUIRE_ALL=1/m);
  });

  it('with their own script are run by .ci/run, or CONTRIBUTING.md gives the reason', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const commands = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const table = page.slice(
      page.indexOf('too expensive for it'),
      page.indexOf('`test/tiers.test.ts` checks that each'),
    );
    // `npm run check`, at the end of .ci/run, measures the coverage.
    const own = Object.keys(scripts).filter((name) => name.startsWith('test:') && name !== 'test:coverage');
    const isRun = (name: string): boolean => new RegExp(`^npm run ${name}( |$)`, 'm').test(commands);
    expect(own.filter((name) => isRun(name) === table.includes(`\`npm run ${name}\``))).toEqual([]);
  });
});
