import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import config from '../../../vitest.config.js';

/** Runs the site suite where it is meant to fail; `test/site/mutations.test.ts` reads the report. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    dir: fileURLToPath(new URL('.', import.meta.url)),
    include: ['site.suite.ts'],
    typecheck: { enabled: false },
    reporters: ['json'],
    // Some cases notice a mutant by waiting for what never comes.
    testTimeout: 4_000,
  },
});
