// Puts the stylesheets of the React components together: one file to import, or to link to.
import { readFileSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('../react/', import.meta.url);
const PARTS = ['theme', 'panel', 'transcript', 'composer', 'history', 'floating', 'surface'];

const texts = PARTS.map((part) => readFileSync(new URL(`src/style/${part}.css`, FOLDER), 'utf8'));
writeFileSync(new URL('dist/style.css', FOLDER), texts.join('\n'));
