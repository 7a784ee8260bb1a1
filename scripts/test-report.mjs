// Reads the JSON report of a vitest run. As a program it prints `N passed, N failed` for a report.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Counts of a report; a file that failed without a failed test (it did not load) counts as one failure. */
export function readTestReport(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: [] }; // the runner crashed before writing its report
  }
  const tests = report.testResults.flatMap((suite) => suite.assertionResults.map((test) => ({ ...test, suite })));
  const count = (status) => tests.filter((test) => test.status === status).length;
  const brokenFiles = report.testResults.filter(
    (suite) => suite.status === 'failed' && !suite.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const passed = count('passed');
  const failed = count('failed') + brokenFiles;
  return {
    passed,
    // A run without tests, or with an error outside any test, has failed too.
    failed: failed === 0 && (!report.success || passed === 0) ? 1 : failed,
    skipped: tests
      .filter((test) => test.status !== 'passed' && test.status !== 'failed')
      .map((test) => `${relative(process.cwd(), test.suite.name)}: ${test.fullName} (${test.status})`),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { passed, failed } = readTestReport(process.argv[2] ?? 'reports/tests.json');
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
