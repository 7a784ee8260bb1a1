// npm run matrix: runs the site suite with every framework and writes the results into docs/frameworks.md. With --from
// REPORT it reads a report of vitest instead, and with --check REPORT it compares the page with one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNode } from './command.mjs';
import { tableOf, writeGenerated } from './generated-table.mjs';

const PAGE = join(ROOT, 'docs/frameworks.md');
const REPORT = join(ROOT, 'reports/tests.json');
const [flag, given = REPORT] = process.argv.slice(2);
const isCheck = flag === '--check';
const isRun = !isCheck && flag !== '--from';

if (isRun) {
  const status = await runNode(join(ROOT, 'scripts/test.mjs'), ['test/site/'], { cwd: ROOT });
  if (status !== 0) console.error('The suite has failures; the table shows them.');
}
const report = JSON.parse(readFileSync(isRun ? REPORT : given, 'utf8'));
await writeGenerated(
  PAGE,
  { 'framework matrix': table(report) },
  isCheck ? 'The table of frameworks in docs/frameworks.md does not match this run: run "npm run matrix".' : undefined,
);

/** A row for each framework: the suites with cases that did not pass, and those that do not apply. */
function table({ testResults }) {
  const rows = new Map();
  const suites = new Set();
  for (const { name, assertionResults } of testResults) {
    if (!/[/\\]test[/\\]site[/\\][\w-]+\.test\.ts$/.test(name)) continue;
    for (const { ancestorTitles, status } of assertionResults) {
      // Sites with a build of their own are nested in one more title, such as "a site built with Next".
      const [framework, suite] = ancestorTitles.slice(ancestorTitles[0]?.startsWith('a site built with') ? 1 : 0);
      if (suite === undefined) continue;
      suites.add(suite);
      const row = rows.get(framework) ?? new Map();
      row.set(suite, (row.get(suite) ?? 0) + (status === 'passed' ? 0 : 1));
      rows.set(framework, row);
    }
  }
  // Sorted, so that the page does not depend on which file ends first.
  const names = [...suites].sort((one, other) => one.localeCompare(other));
  if (rows.size === 0) throw new Error('the report holds no case of the site suite');
  const listed = (names) => names.join(', ');
  const lines = [...rows]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, row]) => {
      const failed = [...row].filter(([, count]) => count > 0).map(([suite, count]) => `${suite} (${count})`);
      const skipped = names.filter((suite) => !row.has(suite));
      return [name, failed.length === 0 ? '✓' : `all but ${listed(failed)}`, listed(skipped)];
    });
  return `Suites: ${listed(names)}.\n\n${tableOf([['Framework', 'Passed', 'Not applicable'], ...lines])}`;
}
