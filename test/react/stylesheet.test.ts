import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const FOLDER = new URL('../../react/src/style/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.css'));

// For each new child, WebKit styles all that is in the one before it again, as soon as a rule has asked whether that is
// the last: 0.3 s for an answer of 80 kB when its buttons appear.
it.each(files)('%s does not ask whether an element is the last one', (name) => {
  expect(readFileSync(new URL(name, FOLDER), 'utf8')).not.toMatch(/:(?:last|only|nth-last)-(?:child|of-type)/);
});
