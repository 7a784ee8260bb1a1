// npm run api: compares the public API of every entry with its report in etc/. With --local (npm run api:update) it
// rewrites the reports. Both fail for an export without a TSDoc line or without a release tag, and for a type that a
// public signature uses but neither the entry nor the root exports. They write the models for scripts/api-pages.mjs to
// temp/api.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { ROOT } from './command.mjs';

const local = process.argv.includes('--local');

/** The packages of this repository. Other entries of the first one may use the exports of its main entry. */
const FOLDERS = ['', 'react'];
const base = ExtractorConfig.loadFile(join(ROOT, 'api-extractor.json'));
const entries = FOLDERS.flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([path, target]) => target.types !== undefined && !path.endsWith('.css'))
    .map(([path, { types }]) => {
      const report = `${name}${path.slice(1).replaceAll('/', '-')}`;
      return { report: `${report}.api.md`, config: configFor(folder, report, join(ROOT, folder, types)) };
    });
});

const problems = [];
/** The exports of the root, which is first in package.json: shared types are imported from there. */
const shared = new Set();
if (entries.length === 0) problems.push('package.json exports no entry with types');
mkdirSync(join(ROOT, 'etc'), { recursive: true });

let compilerState;
for (const { report, config } of entries) {
  compilerState ??= CompilerState.create(config, {
    additionalEntryPoints: entries.map((entry) => entry.config.mainEntryPointFilePath),
  });
  let result;
  try {
    result = Extractor.invoke(config, {
      localBuild: local,
      compilerState,
      messageCallback(message) {
        // Replaced by our own, shorter lines: one per entry, with the fix.
        if (message.messageId.startsWith('console-')) message.handled = true;
        const [, forgotten] = /The symbol "(\w+)" needs to be exported/.exec(message.text) ?? [];
        if (shared.has(forgotten)) message.logLevel = 'none';
      },
    });
  } catch (error) {
    // One known cause: a type parameter named like a member of the same interface.
    problems.push(`${report}: api-extractor failed: ${error.message}`);
    continue;
  }
  if (shared.size === 0) for (const name of exportsOf(report)) shared.add(name);
  if (result.errorCount > 0) problems.push(`${report}: ${result.errorCount} errors, see above`);
  if (result.apiReportChanged && !local)
    problems.push(`etc/${report} is out of date. Run npm run api:update, and review the difference.`);
  for (const line of incompleteLines(join(local ? join(ROOT, 'etc') : config.reportTempFolder, report))) {
    problems.push(`${report}: ${line}`);
  }
}

const expected = new Set(entries.map(({ report }) => report));
for (const file of readdirSync(join(ROOT, 'etc'))) {
  if (file.endsWith('.api.md') && !expected.has(file)) problems.push(`etc/${file} belongs to no entry of package.json`);
}

for (const problem of problems) console.error(problem);
// Standard output belongs to `npm pack --json`, which runs this too.
console.error(`${entries.length} entries, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function configFor(folder, reportFileName, mainEntryPointFilePath) {
  return ExtractorConfig.prepare({
    configObject: {
      ...base,
      mainEntryPointFilePath,
      apiReport: { ...base.apiReport, reportFileName },
      docModel: { enabled: true, apiJsonFilePath: join(ROOT, 'temp/api', reportFileName, 'model.api.json') },
    },
    configObjectFullPath: join(ROOT, 'api-extractor.json'),
    packageJsonFullPath: join(ROOT, folder, 'package.json'),
  });
}

/** The names in a report. */
function exportsOf(report) {
  const text = readFileSync(join(local ? join(ROOT, 'etc') : join(ROOT, 'temp'), report), 'utf8');
  return [...text.matchAll(/^export (?:abstract )?(?:function|class|interface|type|const) (\w+)/gm)].map(
    ([, name]) => name,
  );
}

/** The lines of a report about undocumented symbols or missing release tags. */
function incompleteLines(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line, index) => {
    if (/^\s*\/\/ .*\(undocumented\)/.test(line)) {
      const named = lines.slice(index + 1).find((next) => next.trim() !== '' && !next.trim().startsWith('//'));
      return [`undocumented: ${named?.trim() ?? basename(file)}`];
    }
    return /ae-missing-release-tag|ae-incompatible-release-tags/.test(line) ? [line.replace(/^\/\/ /, '')] : [];
  });
}
