import { readFileSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import config from '../../vitest.config.js';

const given = JSON.parse(process.env['MUTANTS'] ?? '{}') as Readonly<Record<'files' | 'layer' | 'result', string>>;
const instrumented = JSON.parse(readFileSync(given.files, 'utf8')) as Readonly<Record<string, string>>;
const { done } = JSON.parse(readFileSync(given.result, 'utf8')) as { readonly done: readonly string[] };

/**
 * The tests run as often as there are changes: in one process, without those that are slow, open browsers or run
 * thousands of sequences.
 */
export default defineConfig({
  resolve: config.resolve ?? {},
  plugins: [{ name: 'changed-sources', enforce: 'pre', load: (id) => instrumented[id.split('?')[0] ?? id] }],
  test: {
    include: [`test/${given.layer}/**/*.test.ts`],
    exclude: [...configDefaults.exclude, '**/*-model.test.ts', '**/cli*.test.ts', '**/redis-*.test.ts', ...done],
    setupFiles: 'test/support/no-server-yet.ts',
    globalSetup: 'test/support/temporary-folder.ts',
    runner: 'test/mutation/runner.ts',
    isolate: false,
    maxWorkers: 1,
    maxConcurrency: 1,
    testTimeout: 60_000,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
  },
});
