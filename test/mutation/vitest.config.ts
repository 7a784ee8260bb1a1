import { configDefaults, defineConfig } from 'vitest/config';
import config from '../../vitest.config.js';

/** The tests run as often as there are mutants: in one process, without those that are slow, open browsers or run thousands of sequences. */
export default defineConfig({
  resolve: config.resolve ?? {},
  test: {
    dir: 'test',
    exclude: [...configDefaults.exclude, '**/*-model.test.ts', 'composition/cli*.test.ts', 'adapters/redis-*.test.ts'],
    setupFiles: 'test/support/no-server-yet.ts',
    globalSetup: 'test/support/temporary-folder.ts',
    isolate: false,
    // A busy machine is slow, not wrong.
    testTimeout: 10_000,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
  },
});
