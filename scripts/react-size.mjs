// npm run size: the size that agent-bff-react adds to a page with React, minified and compressed; fails above a limit.
// Parts that are loaded later have their own lines.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { ensureBuilt } from './build.mjs';

const DIST = new URL('../react/dist/', import.meta.url);
/** Kilobytes of 1,000 bytes. */
const LIMITS = { 'first paint': 9.5, 'first answer': 36, history: 2, highlighting: 24, widgets: 17, stylesheet: 5.2 };

await ensureBuilt('react');
const chat = await pieces('A2AChat, A2AChatFloating');
const surface = await pieces('ServiceSurface');
const sizes = {
  'first paint': chat.size('entry'),
  'first answer': chat.size('entry', 'agent', 'message-list'),
  history: chat.size('entry', 'history') - chat.size('entry'),
  highlighting: chat.size('entry', 'highlight', 'message-list') - chat.size('entry', 'message-list'),
  widgets: surface.size('entry', 'surface-view'),
  stylesheet: gzipSync(readFileSync(new URL('style.css', DIST))).length,
};

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
console.table(
  Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [
      name,
      { size: kilobytes(bytes), limit: kilobytes(LIMITS[name] * 1000) },
    ]),
  ),
);
const over = Object.keys(sizes).filter((name) => sizes[name] > LIMITS[name] * 1000);
for (const name of over) console.error(`${name}: more than ${LIMITS[name]} kB`);
process.exitCode = over.length === 0 ? 0 : 1;

/** The files loaded by a page that imports these names, by entry: the first, and each that is imported later. */
async function pieces(names) {
  const bundled = await rolldown({
    input: 'entry',
    external: /^react(?:-dom)?(?:\/|$)/,
    platform: 'browser',
    checks: { moduleLevelDirective: false },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) =>
          id === 'entry'
            ? `export { ${names} } from ${JSON.stringify(fileURLToPath(new URL('index.js', DIST)))}`
            : undefined,
      },
    ],
  });
  const { output } = await bundled.generate({ format: 'esm', minify: true });
  await bundled.close();
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const withImports = (chunk) => [
    chunk,
    ...chunk.imports.flatMap((file) => withImports(chunks.get(file) ?? { imports: [] })),
  ];
  const size = (...entries) => {
    const found = [...chunks.values()].filter(
      ({ name, isEntry, isDynamicEntry }) => (isEntry || isDynamicEntry) && entries.includes(name),
    );
    if (found.length !== entries.length)
      throw new Error(`${entries.join(', ')}: not all of them are pieces of the bundle`);
    const loaded = new Set(found.flatMap(withImports));
    return [...loaded].reduce((sum, { code = '' }) => sum + (code === '' ? 0 : gzipSync(code).length), 0);
  };
  return { size };
}
