// Every document that travels with the package leads only to files that do as well.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = `node_modules/${process.argv[2]}`;
const documents = readdirSync(ROOT, { recursive: true }).filter((path) => path.endsWith('.md'));
const missing = documents.flatMap((path) => {
  const links = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)];
  return links
    .map(([, target]) => join(dirname(path), decodeURI(target)))
    .filter((target) => !existsSync(join(ROOT, target)));
});
assert.deepEqual([...new Set(missing)], []);
assert.ok(documents.includes('README.md') && documents.includes('CHANGELOG.md'), documents.join(', '));
console.log(`links of ${documents.length} documents of ${process.argv[2]}: ok`);
