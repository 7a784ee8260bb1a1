import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { anchors, documents, prose, ROOT } from './support/documents.js';

const all = documents();
const anchorsOf = new Map(all.map(({ file, text }) => [file, anchors(text)]));

/** The links of a text into the repository, including images. */
function links(text: string): readonly string[] {
  const found = prose(text)
    .replaceAll(/`[^`\n]*`/g, 'code')
    .matchAll(/\]\(([^)\s]+)\)/g);
  return [...found].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** The fault of a link, if any. */
function fault(file: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? file : posix.join(posix.dirname(file), path);
  if (!existsSync(join(ROOT, target)) || target.startsWith('docs/api')) return `${file}: a clone has no ${target}`;
  if (anchor === undefined || anchorsOf.get(target)?.has(anchor) === true) return undefined;
  return `${file}: ${target} has no heading #${anchor}`;
}

it('every link between the documents points to an existing file and heading', () => {
  const found = all.flatMap(({ file, text }) => links(text).map((link) => ({ file, link })));
  expect(found.length).toBeGreaterThan(100);
  expect(found.map(({ file, link }) => fault(file, link)).filter((line) => line !== undefined)).toEqual([]);
});

it('every page of docs can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const file of reached) {
    const text = all.find((document) => document.file === file)?.text ?? '';
    for (const link of links(text)) {
      const target = posix.join(posix.dirname(file), link.split('#', 1)[0] ?? '');
      if (anchorsOf.has(target)) reached.add(target);
    }
  }
  expect([...anchorsOf.keys()].filter((file) => file.startsWith('docs/') && !reached.has(file))).toEqual([]);
});
