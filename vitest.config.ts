import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectConfiguration } from 'vitest/config';

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

const isQuick = process.env['TEST_TIER'] === 'quick';

const IN_PROCESS = ['domain', 'adapters', 'composition', 'react'].map((folder) => `${folder}/**/*.test.ts`);
/** Next runs inside the process of its tests and leaves its state on globalThis. */
const NEXT = ['adapters/next.test.ts', 'site/next.test.ts', 'e2e/next*.test.ts', 'e2e/sessions-page.test.ts'];
/** What `npm test` runs, in a minute on two cores. `npm test -- --all` runs every test. */
const QUICK = [
  ...IN_PROCESS,
  'architecture.test.ts',
  'foreign-members.test.ts',
  'one-door.test.ts',
  'site/express-5.test.ts',
  'site/node-http.test.ts',
  // Web standard requests.
  'site/hono.test.ts',
];
/** They serve the demo, need a Redis, or read the built components. */
const NOT_QUICK = ['composition/cli-demo.test.ts', 'adapters/redis-*.test.ts', 'react/server-rendering.test.ts'];

function tests(
  name: string,
  files: { include: string[]; exclude: string[]; isolate: boolean },
): TestProjectConfiguration {
  return {
    extends: true,
    test: {
      ...files,
      name,
      dir: fromRoot('test'),
      exclude: [...configDefaults.exclude, ...files.exclude],
      setupFiles: fromRoot('test/support/no-server-yet.ts'),
      // A busy machine is slow, not wrong; what can hang has a deadline of its own.
      testTimeout: 60_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 20_000 } },
      unstubEnvs: true,
      unstubGlobals: true,
      restoreMocks: true,
      typecheck: {
        // The type tests see what a user of the package sees: the declarations in dist.
        enabled: name === 'apart' && existsSync(fromRoot('test/types')) && existsSync(fromRoot('dist')),
        include: ['types/**/*.test-d.ts'],
        tsconfig: fromRoot('tsconfig.test.json'),
        ignoreSourceErrors: true,
      },
    },
  };
}

export default defineConfig({
  resolve: { alias: entries },
  test: {
    globalSetup: fromRoot('test/support/temporary-folder.ts'),
    maxWorkers: isQuick ? 4 : 2,
    // Loading every module again for every file is a third of the time, so files that allow it share their processes.
    projects: isQuick
      ? [tests('quick', { include: QUICK, exclude: [...NEXT, ...NOT_QUICK], isolate: false })]
      : [
          tests('apart', { include: NEXT, exclude: [], isolate: true }),
          tests('shared', { include: ['**/*.test.ts'], exclude: NEXT, isolate: false }),
        ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/ports/**'], // types only
      reporter: ['text-summary', 'html', 'json-summary'],
      thresholds: { lines: 90, branches: 85 },
    },
  },
});
