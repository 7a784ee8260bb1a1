// Bundles the published JavaScript. The package: its own files and inversify's few hundred. A process that starts with a
// message (a cold container, a function) would spend most of its start on finding and reading them (decision 74).
// content-disposition is included too: installed beside a site's Koa, its types would replace those that `@types/koa` needs.
// With `demo`: the demo and all its dependencies, so that `npx agent-bff demo` needs no installation (decision 74).
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGE_OF = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

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
  const stubs = Object.values(exports).flatMap(({ browser, default: file }) => (browser ? [{ browser, file }] : []));
  for (const { browser, file } of stubs) await writeStub(join(ROOT, browser), join(ROOT, file));
}

/** The same names for bundles that are not for Node, so that the error is a sentence and not the name of another package. */
async function writeStub(path, entry) {
  const names = Object.keys(await import(pathToFileURL(entry)));
  const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ elsewhere('${name}');\n`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${ELSEWHERE}\n${lines.join('')}`);
}

const ELSEWHERE = `const elsewhere = (name) =>
  function () {
    throw new Error(
      name +
        ' of agent-bff needs Node, and this code was built for a browser or an edge runtime. Call it on the server; in Next, neither in a client component, nor in middleware.ts or a route with runtime = "edge".',
    );
  };
`;

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

await (process.argv[2] === 'demo' ? bundleDemo() : bundlePackage());
