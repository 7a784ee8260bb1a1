// Bundles the published JavaScript. The package: its own files and inversify's few hundred. A process that starts with a
// message (a cold container, a function) would spend most of its start on finding and reading them (decision 74).
// content-disposition is included too: installed beside a site's Koa, its types would replace those that `@types/koa` needs.
// With `demo`: the demo and all its dependencies, so that `npx agent-bff demo` needs no installation (decision 74).
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { ROOT } from './command.mjs';
import { packageIn, writeNotices } from './notices.mjs';

const ROOT_ENTRY = /src[\\/]composition[\\/](?:index|sessions)\.ts$/;
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
    preserveEntrySignatures: 'allow-extension', // as `includeDependenciesRecursively` needs; a test compares the names
    external: (id) => /^[^./]/.test(id) && !isIncluded.test(id),
    output: {
      comments: { jsdoc: false }, // they are in the declarations
      codeSplitting: {
        groups: [
          { name: 'inversify', test: /node_modules[\\/](?:@?inversify|reflect-metadata)/ },
          // Modules that only the root entry imports: without code of its own there, a bundler takes just the chunks it needs.
          { name: isOfRootAlone, debugName: 'root', includeDependenciesRecursively: false },
        ],
      },
    },
  });
  const stubs = Object.values(exports).flatMap(({ browser, default: file }) => (browser ? [{ browser, file }] : []));
  for (const { browser, file } of stubs) await writeStub(join(ROOT, browser), join(ROOT, file));
}

function isOfRootAlone(id, context) {
  const { importers = [], isEntry = false } = context.getModuleInfo(id) ?? {};
  return !isEntry && importers.length > 0 && importers.every((importer) => ROOT_ENTRY.test(importer)) ? 'root' : null;
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
    // Dependencies of the package are there when it is installed.
    external: /^(?:agent-bff|jose|openid-client)(?:\/|$)/,
    // Some modules of the examples have side effects on import, unlike the package, whose manifest excludes them.
    treeshake: { moduleSideEffects: () => true },
    // One of Express's packages uses `eval`.
    checks: { eval: false },
    // The provider finds its models and grants by the names of their classes, which both options would otherwise drop.
    // LICENSES.txt beside it has the licences.
    output: { minify: { mangle: false }, keepNames: true, comments: { legal: false } },
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
  writeNotices(folder, [...included].map(packageIn));
}

await (process.argv[2] === 'demo' ? bundleDemo() : bundlePackage());
