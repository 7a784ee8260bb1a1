// The JavaScript that is published. The package: its own files and inversify's few hundred, put together. A process that begins with a message
// (a cold container, a function) would spend most of its start on finding and reading them (decision 74). content-disposition is included too:
// installed beside a site's Koa, its types would take the place of those that `@types/koa` reads.
// With `demo`: the demo and all it runs on, so that `npx agent-bff demo` needs nothing else (decision 74).
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE_OF = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

await (process.argv[2] === 'demo' ? bundleDemo() : bundlePackage());

async function bundlePackage() {
  const folder = join(ROOT, 'dist');
  const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const entries = [...Object.values(exports), ...Object.values(bin)].flatMap((target) => {
    const name = /^\.\/dist\/(.*)\.js$/.exec(target.default ?? target)?.[1];
    return name === undefined ? [] : [[name, join(ROOT, 'src', `${name}.ts`)]];
  });
  const isIncluded = /^(?:inversify|@inversifyjs\/|reflect-metadata|content-disposition)/;
  await bundle(folder, {
    input: Object.fromEntries(entries),
    tsconfig: join(ROOT, 'tsconfig.json'),
    external: (id) => /^[^./]/.test(id) && !isIncluded.test(id),
    output: {
      codeSplitting: { groups: [{ name: 'inversify', test: /node_modules[\\/](?:@?inversify|reflect-metadata)/ }] },
      sourcemap: true,
    },
  });
}

async function bundleDemo() {
  await bundle(join(ROOT, 'examples/dist/demo'), {
    input: join(ROOT, 'examples/start-demo.ts'),
    tsconfig: join(ROOT, 'examples/tsconfig.json'),
    external: /^agent-bff/,
    // Some modules of the examples have side effects on import, unlike the package, whose manifest excludes them.
    treeshake: { moduleSideEffects: () => true },
    // One of Express's packages uses `eval`.
    checks: { eval: false },
    // The provider finds its models and grants by the names of their classes, which both options would otherwise drop.
    output: { minify: { mangle: false }, keepNames: true },
  });
}

async function bundle(folder, { output: format, ...options }) {
  rmSync(join(folder, 'chunks'), { recursive: true, force: true });
  const bundled = await rolldown({
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message);
    },
    ...options,
  });
  const names = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' };
  const { output } = await bundled.write({ dir: folder, ...names, ...format });
  await bundled.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const included = new Set(modules.flatMap((id) => PACKAGE_OF.exec(id)?.slice(0, 1) ?? []));
  writeFileSync(join(folder, 'LICENSES.txt'), [...included].sort().map(licence).join('\n'));
}

/** The licence of an included package, which must be kept with its code. */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
