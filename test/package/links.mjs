// Checks that documents of the package link to files of the package, or to what is deliberately in the repository only.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

const [, , name, repository = ''] = process.argv;
const ROOT = `node_modules/${name}`;
/** The published files of this package. */
const PUBLISHED = `https://unpkg.com/${name}/`;
/** The README says that these are in the repository. */
const LEFT_OUT = /^(?:docs\/(?:decisions|images)\/|examples\/)/;
/** Linked from the README alone: npm's page and GitHub resolve its links against the repository, but no other document's. */
const FROM_README = /^(?:docs\/(?:mutation|release)\.md|ARCHITECTURE|CONTRIBUTING)/;
const documents = readdirSync(ROOT, { recursive: true }).filter((path) => path.endsWith('.md'));
const missing = documents.flatMap((path) => {
  const links = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(([, link]) => link);
  const published = links.filter((link) => link.startsWith(PUBLISHED)).map((link) => link.slice(PUBLISHED.length));
  const relative = links.filter((link) => !/^(?:https?|mailto):/.test(link));
  const isInRepository = (target) => LEFT_OUT.test(target) || (path === 'README.md' && FROM_README.test(target));
  return [...published, ...relative.map((link) => join(dirname(path), decodeURI(link)))].filter(
    (target) =>
      !existsSync(join(ROOT, target)) &&
      !(isInRepository(target.replaceAll(sep, '/')) && existsSync(join(repository, target))),
  );
});
assert.deepEqual([...new Set(missing)], []);
assert.ok(documents.includes('README.md') && documents.includes('CHANGELOG.md'), documents.join(', '));
console.log(`links of ${documents.length} documents of ${name}: ok`);
