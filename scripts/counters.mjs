// npm run counters [-- --files]: how large `src` is. Prints a table; with `--files` every file, its lines of code and who imports it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { ROOT } from './command.mjs';

/** A file of one importer and so few lines is usually a part of that importer. */
const SMALL = 45;

const files = execFileSync('git', ['ls-files', 'src/*.ts'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter(Boolean);
const sources = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
const parsed = new Map(files.map((file) => [file, parseSync(file, sources.get(file))]));
const importers = new Map(files.map((file) => [file, new Set()]));
for (const [file, { module }] of parsed) {
  const { staticImports, staticExports, dynamicImports } = module;
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => sources.get(file).slice(start + 1, end - 1)),
  ];
  for (const name of names) {
    if (name.startsWith('.')) importers.get(join(dirname(file), name).replace(/\.js$/, '.ts'))?.add(file);
  }
}
const rows = files.map((file) => ({
  file,
  lines: sources.get(file).trimEnd().split('\n').length,
  code: codeLines(file),
  importers: [...importers.get(file)],
}));
const single = rows.filter((row) => row.importers.length === 1);
const small = single.filter(({ lines }) => lines <= SMALL);

const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
console.log(`| What                                            | Now    |
| ----------------------------------------------- | ------ |
| Files in \`src\`                                  | ${String(files.length).padEnd(6)} |
| Lines in \`src\`                                  | ${String(sum('lines')).padEnd(6)} |
| Lines of code in \`src\` (no comments, no blanks) | ${String(sum('code')).padEnd(6)} |
| Files with one importer                         | ${String(single.length).padEnd(6)} |
| … of those with at most ${SMALL} lines               | ${String(small.length).padEnd(6)} |`);
if (process.argv.includes('--files')) {
  for (const { file, lines, code, importers: by } of rows) {
    console.log(
      `${String(lines).padStart(5)} ${String(code).padStart(5)}  ${file}  ${by.length === 1 ? `← ${by[0]}` : by.length}`,
    );
  }
}

/** Lines that are more than a comment and no blanks. */
function codeLines(file) {
  let text = sources.get(file);
  for (const { start, end } of parsed.get(file).comments) {
    text = text.slice(0, start) + text.slice(start, end).replaceAll(/[^\n]/g, ' ') + text.slice(end);
  }
  return text.split('\n').filter((line) => line.trim() !== '').length;
}
