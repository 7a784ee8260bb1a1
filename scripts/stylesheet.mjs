// Concatenates the stylesheets of the React components to one file, for import or link.
import { readFileSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('../react/', import.meta.url);
const PARTS = ['theme', 'panel', 'transcript', 'composer', 'history', 'floating', 'surface', 'print'];

// TypeScript 6 and newer require types for every import.
writeFileSync(new URL('dist/style.css.d.ts', FOLDER), 'export {};\n');
const texts = PARTS.map((part) => readFileSync(new URL(`src/style/${part}.css`, FOLDER), 'utf8'));
// Lengths follow the root's font size, but never below that of a browser. A condition of @media has no properties.
const lengths = (line) =>
  /@media|--a2a-rem:/.test(line) ? line : line.replace(/(-?[\d.]+)rem\b/g, 'calc($1 * var(--a2a-rem))');
const css = texts
  .join('\n')
  .replace(/\s*\/\*.*?\*\//gs, '')
  .split('\n')
  .map(lengths)
  .join('\n');
writeFileSync(new URL('dist/style.css', FOLDER), css);
