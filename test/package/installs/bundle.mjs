// node bundle.mjs BUNDLER ENTRY FOLDER: bundles a site with all its packages into one folder, by the settings of docs/deployment.md.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , bundler, entry, folder] = process.argv;
const TOOLS = dirname(fileURLToPath(import.meta.url));
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const bundlers = {
  async 'esbuild --format=cjs'() {
    const { build } = await import('esbuild');
    await build({
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile: join(folder, 'site.cjs'),
    });
  },
  async 'esbuild --format=esm'() {
    const { build } = await import('esbuild');
    const settings = { bundle: true, platform: 'node', format: 'esm', banner: { js: BANNER } };
    await build({ ...settings, entryPoints: [entry], outfile: join(folder, 'site.mjs') });
  },
  async 'bun build'() {
    const program = join(TOOLS, 'node_modules/bun/bin/bun.exe');
    execFileSync(program, ['build', entry, '--target=node', `--outfile=${join(folder, 'site.mjs')}`]);
  },
  async webpack() {
    const { default: webpack } = await import('webpack');
    const output = { path: folder, filename: 'site.cjs' };
    const stats = await new Promise((resolve, reject) =>
      webpack({ entry, target: 'node', mode: 'production', output }, (error, result) =>
        error ? reject(error) : resolve(result),
      ),
    );
    if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  },
  async rollup() {
    const { rollup } = await import('rollup');
    const plugins = [];
    for (const [name, options] of [
      ['node-resolve', { preferBuiltins: true, exportConditions: ['node'] }],
      ['commonjs', { ignore: ['node:sqlite'] }],
      ['json'],
    ])
      plugins.push((await import(`@rollup/plugin-${name}`)).default(options));
    const bundle = await rollup({ input: entry, plugins, onLog: () => undefined });
    await bundle.write({ dir: folder, format: 'es', entryFileNames: 'site.mjs', chunkFileNames: '[name]-[hash].mjs' });
  },
  async 'vite build --ssr'() {
    const { build } = await import('vite');
    const rollupOptions = { output: { entryFileNames: 'site.mjs', chunkFileNames: '[name]-[hash].mjs' } };
    await build({
      root: dirname(entry),
      configFile: false,
      logLevel: 'error',
      build: { ssr: entry, outDir: folder, emptyOutDir: true, rollupOptions },
      ssr: { noExternal: true },
    });
  },
};
await bundlers[bundler]();
