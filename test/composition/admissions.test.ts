import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { watchTerminal } from '../support/terminal.js';
import { COLUMNS } from './admissions-products.js';
import { sections } from './admissions-rows.js';
import { Glossary } from './admissions-world.js';

const FILE = new URL('admissions.table.txt', import.meta.url);
const INTRODUCTION = [
  'What every route does, by credential, method, page and state of the site.',
  'Each row: status, body, fields; "counts:" calls of a limiter, "events:" telemetry, "calls:" requests to the platform.',
  'A name such as "request-1f0c2" stands for a text at the end of this file. Request ids and secrets are replaced.',
  'The chat\'s own path is "(empty)".',
  ...COLUMNS,
];
const GLOSSARY = 'Texts';
const TITLES = sections(new Glossary()).map(([title]) => title);

if (process.env['WRITE_ADMISSIONS'] === '1') writeFileSync(FILE, await writtenTable());
const table = parse(readFileSync(FILE, 'utf8'));

async function writtenTable(): Promise<string> {
  const glossary = new Glossary();
  const blocks: string[] = [];
  for (const [title, lines] of sections(glossary)) blocks.push([`# ${title}`, ...(await lines())].join('\n'));
  blocks.push([`# ${GLOSSARY}`, ...glossary.lines()].join('\n'));
  return `${INTRODUCTION.join('\n')}\n\n${blocks.join('\n\n')}\n`;
}

/** The lines of each part by its title. */
function parse(text: string): ReadonlyMap<string, readonly string[]> {
  const [, ...parts] = text.split('\n# ');
  return new Map(
    parts.map((part) => {
      const [title = '', ...lines] = part.trimEnd().split('\n');
      return [title, lines] as const;
    }),
  );
}

describe('the table of admissions', () => {
  it.each(TITLES)('holds for: %s', async (title) => {
    watchTerminal();
    const glossary = new Glossary();
    const [, lines] = sections(glossary).find(([one]) => one === title) ?? [];
    expect(await lines?.()).toEqual(table.get(title));
    const texts = new Set(table.get(GLOSSARY));
    expect(glossary.lines().filter((line) => !texts.has(line))).toEqual([]);
  });

  it('has no other parts, and explains no other names', () => {
    expect([...table.keys()]).toEqual([...TITLES, GLOSSARY]);
    const used = new Set(TITLES.flatMap((title) => table.get(title) ?? []).flatMap((line) => line.split(' ')));
    expect(table.get(GLOSSARY)?.filter((line) => !used.has(line.split(' ', 1)[0] ?? ''))).toEqual([]);
  });
});
