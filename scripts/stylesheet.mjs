// Concatenates the stylesheets of the React components to one file, for import or link.
import { readFileSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('../react/', import.meta.url);
const PARTS = ['theme', 'panel', 'transcript', 'composer', 'history', 'floating', 'surface'];

// TypeScript 6 and newer require types for every import.
writeFileSync(new URL('dist/style.css.d.ts', FOLDER), 'export {};\n');
const texts = PARTS.map((part) => readFileSync(new URL(`src/style/${part}.css`, FOLDER), 'utf8'));
writeFileSync(new URL('dist/style.css', FOLDER), texts.join('\n'));
