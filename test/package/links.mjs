// Checks that documents of the package link only to files of the package.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = `node_modules/${process.argv[2]}`;
/** The published files of this package. */
const PUBLISHED = `https://unpkg.com/${process.argv[2]}/`;
const documents = readdirSync(ROOT, { recursive: true }).filter((path) => path.endsWith('.md'));
const missing = documents.flatMap((path) => {
  const links = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => link);
  const published = links.filter((link) => link.startsWith(PUBLISHED)).map((link) => link.slice(PUBLISHED.length));
  const relative = links.filter((link) => !/^(?:https?|mailto):/.test(link));
  return [...published, ...relative.map((link) => join(dirname(path), decodeURI(link)))].filter(
    (target) => !existsSync(join(ROOT, target)),
  );
});
assert.deepEqual([...new Set(missing)], []);
assert.ok(documents.includes('README.md') && documents.includes('CHANGELOG.md'), documents.join(', '));
console.log(`links of ${documents.length} documents of ${process.argv[2]}: ok`);
