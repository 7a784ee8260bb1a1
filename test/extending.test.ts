import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const page = readFileSync(fromRoot('docs/extending.md'), 'utf8');
const sections = page.split(/^## /m).slice(1);

describe.each(sections.map((text) => [String(text.split('\n')[0]), text] as const))('%s', (_title, text) => {
  const places = [...text.matchAll(/`((?:src|test)\/[^`<]*|package\.json)`/g)].map(([, place]) => String(place));

  it('names at least one path', () => {
    expect(places).not.toEqual([]);
  });

  it.each(places)('names an existing path: %s', (place) => {
    expect(existsSync(fromRoot(place))).toBe(true);
  });

  it('contains no code block that could become outdated', () => {
    expect(text).not.toContain('```');
  });
});
