import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** Replaces the table between `<!-- name: begin -->` and `<!-- name: end -->` of a page. The first row is the head. */
export async function writeTable(page, name, [head, ...rows]) {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [before, rest] = readFileSync(page, 'utf8').split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${page} lacks the lines ${begin} and ${end}`);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const text = `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`;
  writeFileSync(page, await format(text, { ...(await resolveConfig(page)), filepath: page }));
}
