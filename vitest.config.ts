import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const fromRoot = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const manifest = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as Manifest;

/** The package's own entries, from their sources: `agent-bff/x` → `src/composition/x.ts`. */
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) => {
  if (typeof target === 'string') return [];
  const name = manifest.name + entry.slice(1);
  const source = target.default.replace(/^\.\/dist\//, './src/').replace(/\.js$/, '.ts');
  return [{ find: new RegExp(`^${name}$`), replacement: fromRoot(source) }];
});

/** What `npm test` runs: under two minutes on two cores. `npm test -- --all` runs every test. */
const QUICK = [
  '*.test.ts',
  'domain/**/*.test.ts',
  'adapters/**/*.test.ts',
  'composition/**/*.test.ts',
  'react/**/*.test.ts',
  'site/express-5.test.ts',
  'site/node-http.test.ts',
  // Web standard requests.
  'site/hono.test.ts',
  // The demo in a browser, where Chromium is installed.
  'e2e/demo/**/*.test.ts',
];

// The demo's slowest: every page in every theme, interrupted streams, signing in and out.
const SLOW = ['accessibility', 'interruptions', 'users'].map((name) => `e2e/demo/${name}.test.ts`);
const isQuick = process.env['TEST_TIER'] === 'quick';

export default defineConfig({
  resolve: { alias: entries },
  test: {
    dir: fromRoot('test'),
    include: isQuick ? QUICK : ['**/*.test.ts'],
    exclude: [...configDefaults.exclude, '.stryker-tmp/**', ...(isQuick ? SLOW : [])],
    setupFiles: fromRoot('test/support/no-server-yet.ts'),
    globalSetup: fromRoot('test/support/temporary-folder.ts'),
    maxWorkers: 2,
    // Loading every module again for every file is a third of a quick run. Among all tests, Next's need it:
    // they run inside the test's process and leave their state on globalThis.
    isolate: !isQuick,
    testTimeout: 10_000,
    hookTimeout: 60_000,
    unstubEnvs: true,
    unstubGlobals: true,
    restoreMocks: true,
    typecheck: {
      // The type tests see what a user of the package sees: the declarations in dist.
      enabled: !isQuick && existsSync(fromRoot('test/types')) && existsSync(fromRoot('dist')),
      include: ['types/**/*.test-d.ts'],
      tsconfig: fromRoot('tsconfig.test.json'),
      ignoreSourceErrors: true,
    },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/ports/**'], // types only
      reporter: ['text-summary', 'html', 'json-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
