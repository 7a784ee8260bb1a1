import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One Markdown file of the repository. */
export interface Document {
  /** Relative to the root, with slashes. */
  readonly file: string;
  readonly text: string;
}

/** One block of code between fences. */
export interface Block {
  readonly language: string;
  readonly code: string;
}

const FENCED = /^( *)```(\S*)[^\n]*\n([\s\S]*?)^\1```$/gm;
/** Folders with third-party or generated files. */
const SKIPPED = /^(?:node_modules|dist|temp|reports|coverage|etc|docs\/api|\.git|\.next|\.work)$/;

/** Every handwritten Markdown file. */
export function documents(folder = ''): readonly Document[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return [entry.name, file].some((name) => SKIPPED.test(name)) ? [] : documents(file);
    return entry.name.endsWith('.md') ? [{ file, text: readFileSync(join(ROOT, file), 'utf8') }] : [];
  });
}

/** The code blocks of a text, including those in lists. */
export function blocks(text: string): readonly Block[] {
  return [...text.matchAll(FENCED)].map(([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** A text without its code blocks and comments. */
export function prose(text: string): string {
  return text.replaceAll(FENCED, '').replaceAll(/<!--[\s\S]*?-->/g, '');
}

/** The texts in single backticks. */
export function inlineCode(text: string): readonly string[] {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** The anchors that GitHub gives the headings of a text. */
export function anchors(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of prose(text).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-');
    let anchor = slug;
    for (let count = 1; found.has(anchor); count += 1) anchor = `${slug}-${String(count)}`;
    found.add(anchor);
  }
  return found;
}
