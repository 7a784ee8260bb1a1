// npm run test:mutation: makes small changes to a folder of src, and expects a test of the same folder to notice each.
// MUTATE=adapters/oauth names another folder than src/domain. SAMPLE=45 changes 45 windows of 12 lines only, drawn by
// SEED (default 1).
import { readdirSync, readFileSync } from 'node:fs';
import { SeededRandom } from './test/slow/seeded-random.mjs';

const { MUTATE: folder = 'domain', SAMPLE: sample, SEED: seed = '1' } = process.env;
const [layer] = folder.split('/');
const WINDOW = 12;

export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutation/vitest.config.ts', dir: `test/${layer}`, related: true },
  mutate: sample === undefined ? [`src/${folder}/**/*.ts`] : drawn(Number(sample), Number(seed)),
  tsconfigFile: 'does-not-exist.json',
  ignorePatterns: ['dist', 'docs', 'etc', 'bench', 'coverage', 'reports'],
  concurrency: 2,
  incrementalFile: `reports/mutation-${folder.replaceAll('/', '-')}.json`,
  reporters: ['clear-text', 'progress', 'html'],
  htmlReporter: { fileName: `reports/mutation-${folder.replaceAll('/', '-')}.html` },
  thresholds: { high: 90, low: 80, break: layer === 'domain' ? 75 : null },
  tempDirName: '.stryker-tmp',
};

/** Windows of the folder's files, as stryker names them. */
function drawn(count, seed) {
  const files = readdirSync(`src/${folder}`, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const windows = files.sort().flatMap((name) => {
    const path = `src/${folder}/${name}`;
    const lines = readFileSync(path, 'utf8').split('\n').length;
    return Array.from(
      { length: Math.ceil(lines / WINDOW) },
      (_, at) => `${path}:${at * WINDOW + 1}-${(at + 1) * WINDOW}`,
    );
  });
  const random = new SeededRandom(seed);
  return Array.from(
    { length: Math.min(count, windows.length) },
    () => windows.splice(random.whole(0, windows.length - 1), 1)[0],
  );
}
