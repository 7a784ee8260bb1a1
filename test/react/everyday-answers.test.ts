import { HtmlRenderer, Parser } from 'commonmark';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { describe, expect, it } from 'vitest';

import { EVERYDAY_ANSWERS } from '../support/markdown/everyday-answers.js';
import { treeOfHtml, treeOfMarkdown } from '../support/markdown/trees.js';

const GFM_MARKS = /~~|^ *\|?.*-\|-|^[-+*] \[[ xX]\]|(?<![(<:] ?|"|“)https?:|[^<:]\w@|--\|--|\| -/m;

/** The answer as another reader shows it: commonmark.js, or micromark where it has tables, bare addresses and the like. */
function elsewhere(text: string): string {
  if (!GFM_MARKS.test(text)) return new HtmlRenderer().render(new Parser().parse(text));
  return micromark(text, { extensions: [gfm({ singleTilde: false })], htmlExtensions: [gfmHtml()] });
}

describe('an everyday answer', () => {
  const [same, different] = [true, false].map((isSame) =>
    EVERYDAY_ANSWERS.filter(({ differs }) => (differs === undefined) === isSame),
  );

  it('is one of 67', () => {
    expect(EVERYDAY_ANSWERS).toHaveLength(67);
  });

  it.each(same ?? [])('reads as elsewhere: $about', ({ text }) => {
    expect(treeOfMarkdown(text)).toBe(treeOfHtml(elsewhere(text)));
  });

  it.each(different ?? [])('with $about differs, since $differs', ({ text }) => {
    expect(treeOfMarkdown(text)).not.toBe(treeOfHtml(elsewhere(text)));
  });
});
