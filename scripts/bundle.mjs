// The package's JavaScript: its own files and inversify's few hundred, put together. A process that begins with a message
// (a cold container, a function) would spend most of its start on finding and reading them (decision 74).
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUTPUT = join(ROOT, 'dist');
/** Packages that become part of ours; all others are imported where they are installed. */
const INCLUDED = /^(?:inversify|@inversifyjs\/|reflect-metadata)/;
const PACKAGE_OF = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const entries = [...Object.values(exports), ...Object.values(bin)].flatMap((target) => {
  const name = /^\.\/dist\/(.*)\.js$/.exec(target.default ?? target)?.[1];
  return name === undefined ? [] : [[name, join(ROOT, 'src', `${name}.ts`)]];
});

const bundle = await rolldown({
  input: Object.fromEntries(entries),
  platform: 'node',
  tsconfig: join(ROOT, 'tsconfig.json'),
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  external: (id) => /^[^./]/.test(id) && !INCLUDED.test(id),
  onLog(level, log) {
    if (level === 'warn') throw new Error(log.message);
  },
});
rmSync(join(OUTPUT, 'chunks'), { recursive: true, force: true });
const { output } = await bundle.write({
  dir: OUTPUT,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: { groups: [{ name: 'inversify', test: /node_modules/ }] },
  sourcemap: true,
});
await bundle.close();

const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
const included = new Set(modules.flatMap((id) => PACKAGE_OF.exec(id)?.slice(0, 1) ?? []));
writeFileSync(join(OUTPUT, 'LICENSES.txt'), [...included].sort().map(licence).join('\n'));

/** The licence of an included package, which asks to be kept with its code. */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
}
