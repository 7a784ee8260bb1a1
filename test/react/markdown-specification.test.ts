import { tests } from 'commonmark-spec';
import { describe, expect, it } from 'vitest';

import gfm from '../support/markdown/gfm-examples.json' with { type: 'json' };
import { treeOfHtml, treeOfMarkdown } from '../support/markdown/trees.js';

interface Example {
  readonly number: number;
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

type Differences = Readonly<Record<string, readonly number[]>>;

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** Deliberate differences, by reason. */
const COMMONMARK: Differences = {
  'a tag of HTML is text, and its attributes are read like other text': [
    [21, 31, 201, 344, 475, 476, 477, 494, 524, 536, 613, 614, 615, 623, 630, 631, 642, 643],
    range(148, 151),
    range(153, 156),
    range(158, 167),
    range(169, 180),
    [182],
    range(184, 191),
  ].flat(),
  'only common named entities are decoded': [25],
  'a bare address is a link, as in GitHub Flavored Markdown': [602, 608, 611, 612],
};

const GFM: Differences = {
  'an address begins with https: where the text begins with www.': range(621, 627),
  'an address of a file server is text': [628],
  'a tag of HTML is text': [653],
  'a bare address is a link, also in the examples of CommonMark 0.29': [610, 616, 619],
  'a comment ends at the first -->, as in CommonMark 0.31': [645, 646],
};

const withTabs = (text: string): string => text.replaceAll('→', '\t');
const SPECIFICATIONS = [
  [
    'CommonMark 0.31',
    tests.map((test) => ({ ...test, markdown: withTabs(test.markdown), html: withTabs(test.html) })),
    COMMONMARK,
  ],
  ['GitHub Flavored Markdown', gfm.examples, GFM],
] as const;

describe.each(SPECIFICATIONS)('the examples of %s', (_name, examples: readonly Example[], differences) => {
  const different = new Set(Object.values(differences).flat());
  const sections = [...new Set(examples.map(({ section }) => section))].map((section) => {
    const all = examples.filter((example) => example.section === section);
    const passing = all.filter(({ number }) => !different.has(number));
    return [section, passing.length, all.length, passing] as const;
  });

  it.each(sections)('%s: %i of %i read the same', (_section, _count, _total, passing) => {
    for (const { number, markdown, html } of passing)
      expect(treeOfMarkdown(markdown), String(number)).toBe(treeOfHtml(html));
  });

  it('differ where a reason is given, and only there', () => {
    const same = examples.filter(
      ({ number, markdown, html }) => different.has(number) && treeOf(html) === treeOfMarkdown(markdown),
    );
    expect(same.map(({ number }) => number)).toEqual([]);
  });
});

/** Some examples contain HTML that has no tree of its own. */
function treeOf(html: string): string | undefined {
  try {
    return treeOfHtml(html);
  } catch {
    return undefined;
  }
}
