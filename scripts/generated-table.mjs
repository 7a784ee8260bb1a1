import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/**
 * Replaces the table between `<!-- name: begin -->` and `<!-- name: end -->` of a page. The first row is the head. With
 * `partly` only the rows with the same first two cells are replaced.
 */
export async function writeTable(page, name, [head, ...rows], { partly = false } = {}) {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before, rest] = readFileSync(page, 'utf8').split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${page} lacks the lines ${begin} and ${end}`);
  const made = partly
    ? [...rest.split(end)[0].matchAll(/^\| (?!-)(.*) \|$/gm)].slice(1).map(([, row]) => cellsOf(row))
    : rows;
  const current = made.map((old) => rows.find((row) => row[0] === old[0] && row[1] === old[1]) ?? old);
  const lines = [head, head.map(() => '---'), ...current].map((cells) => `| ${cells.join(' | ')} |`);
  const text = `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`;
  writeFileSync(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}

function cellsOf(row) {
  return row.split(' | ').map((cell) => cell.trim());
}
