// npm run test:mutation: makes small changes to a folder of src, and expects a test of the same folder to notice each.
// MUTATE=adapters/oauth names another folder than src/domain.
const folder = process.env.MUTATE ?? 'domain';
const [layer] = folder.split('/');

export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', dir: `test/${layer}`, related: true },
  mutate: [`src/${folder}/**/*.ts`],
  tsconfigFile: 'does-not-exist.json',
  ignorePatterns: ['dist', 'docs', 'etc', 'bench', 'coverage', 'reports'],
  concurrency: 2,
  incrementalFile: `reports/mutation-${folder.replaceAll('/', '-')}.json`,
  reporters: ['clear-text', 'progress', 'html'],
  htmlReporter: { fileName: `reports/mutation-${folder.replaceAll('/', '-')}.html` },
  thresholds: { high: 90, low: 80, break: layer === 'domain' ? 75 : null },
  tempDirName: '.stryker-tmp',
};
