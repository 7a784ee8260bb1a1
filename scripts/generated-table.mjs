import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** The parts of a page before, between and after `<!-- name: begin -->` and `<!-- name: end -->`. */
function partsOf(text, name) {
  const [before, rest] = text.split(`<!-- ${name}: begin -->`);
  const [between, after] = rest?.split(`<!-- ${name}: end -->`) ?? [];
  if (after === undefined)
    throw new Error(`The page lacks the lines <!-- ${name}: begin --> and <!-- ${name}: end -->`);
  return [before, between, after];
}

/**
 * Replaces the text between the lines of each name. With `check` it writes nothing, and the script fails with these
 * words if the page differs.
 */
export async function writeGenerated(page, texts, check) {
  const present = readFileSync(page, 'utf8');
  let text = present;
  for (const [name, content] of Object.entries(texts)) {
    const [before, , after] = partsOf(text, name);
    text = `${before}<!-- ${name}: begin -->\n\n${content}\n\n<!-- ${name}: end -->${after}`;
  }
  const written = await format(text, { ...(await resolveConfig(page)), filepath: page });
  if (check === undefined) writeFileSync(page, written);
  else if (written !== present) {
    console.error(check);
    process.exitCode = 1;
  }
}

/** A table in Markdown; the first row is the head. */
export function tableOf([head, ...rows]) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Replaces a table. With `partly` only the rows with the same first two cells are replaced. */
export async function writeTable(page, name, [head, ...rows], { partly = false } = {}) {
  const [, between] = partsOf(readFileSync(page, 'utf8'), name);
  const present = [...between.matchAll(/^\| (?!-)(.*) \|$/gm)].slice(1).map(([, row]) => cellsOf(row));
  const current = (partly ? present : rows).map(
    (old) => rows.find((row) => row[0] === old[0] && row[1] === old[1]) ?? old,
  );
  await writeGenerated(page, { [name]: tableOf([head, ...current]) });
}

function cellsOf(row) {
  return row.split(' | ').map((cell) => cell.trim());
}
