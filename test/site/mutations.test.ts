import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { MUTANTS, SOUND } from './mutants/mutant.js';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** How a case of the suite ended, by `framework: title`. */
async function runSuite(): Promise<Map<string, string>> {
  const cases = MUTANTS.flatMap(({ name, noticedBy }) => [`${name} .*${noticedBy}`, `${SOUND.name} .*${noticedBy}`]);
  const vitest = [fromRoot('node_modules/vitest/vitest.mjs'), 'run'];
  const flags = ['--config', fromRoot('test/site/mutants/vitest.config.ts'), '-t', `^(?:${cases.join('|')})$`];
  const run = promisify(execFile)(process.execPath, [...vitest, ...flags], {
    cwd: fromRoot('.'),
    maxBuffer: 1 << 26,
    env: { ...process.env, VITEST: undefined, NODE_OPTIONS: '' },
  });
  // It fails, and its report says how.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report;
  const ran = testResults.flatMap(({ assertionResults }) => assertionResults).filter(isRun);
  return new Map(ran.map(({ ancestorTitles: [framework = ''], title, status }) => [`${framework}: ${title}`, status]));
}

function isRun({ status }: { readonly status: string }): boolean {
  return status === 'passed' || status === 'failed';
}

describe('the site suite', () => {
  let results: Map<string, string>;
  beforeAll(async () => {
    results = await runSuite();
  }, 120_000);

  it.each(MUTANTS)('notices $name', ({ name, noticedBy }) => {
    expect(results.get(`${name}: ${noticedBy}`)).toBe('failed');
    expect(results.get(`${SOUND.name}: ${noticedBy}`)).toBe('passed');
  });
});
