import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/documents.js';

const MANIFESTS = ['package.json', 'react/package.json', 'examples/next/package.json'];

describe('a clone on Windows', () => {
  it.each(MANIFESTS)('runs the scripts of %s, which use no syntax of one shell', (file) => {
    const { scripts = {} } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { scripts?: Record<string, string> };
    const shell = /\|\||[;$'`~<>]|(?<!&)&(?!&)|^\w+=|\b(?:exec|export|rm|cp|mkdir|du)\s/;
    expect(Object.entries(scripts).filter(([, command]) => shell.test(command))).toEqual([]);
  });

  it('has the line ends that tests and packages expect', () => {
    expect(readFileSync(join(ROOT, '.gitattributes'), 'utf8')).toMatch(/^\* text=auto eol=lf$/m);
  });
});
