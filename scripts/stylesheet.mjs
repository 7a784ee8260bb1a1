// Puts the stylesheets of the React components together: one file to import, or to link to.
import { readFileSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('../react/', import.meta.url);
const PARTS = ['theme', 'panel', 'transcript', 'composer', 'history', 'floating', 'surface'];

// TypeScript 6 and newer look for the types of everything that is imported.
writeFileSync(new URL('dist/style.css.d.ts', FOLDER), 'export {};\n');
const texts = PARTS.map((part) => readFileSync(new URL(`src/style/${part}.css`, FOLDER), 'utf8'));
writeFileSync(new URL('dist/style.css', FOLDER), texts.join('\n'));
