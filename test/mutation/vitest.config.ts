import { configDefaults, defineConfig } from 'vitest/config';
import config from '../../vitest.config.js';

/** The tests of the domain as often as there are mutants: in one process, without those that play out thousands of stories each. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    exclude: [...configDefaults.exclude, '**/*-model.test.ts'],
    isolate: false,
    typecheck: { enabled: false },
  },
});
