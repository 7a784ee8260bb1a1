// The blocks of code in the documents, and a record of those that were run as they stand.
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FENCED = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm;
const COMPILED = ['js', 'ts', 'tsx'];
const RECORD = process.env.BLOCKS_RUN;

/** Every block of the READMEs and of docs below `root`, with the heading above it. */
export function blocksOf(root) {
  const guides = readdirSync(join(root, 'docs'), { recursive: true }).map((file) => join('docs', file));
  const files = [
    'README.md',
    ...guides,
    'react/README.md',
    'examples/next/README.md',
    'examples/internal-tool/README.md',
  ];
  return files
    .filter((file) => file.endsWith('.md') && !/^docs[\\/](?:api|decisions)/.test(file) && existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(FENCED)].map(({ 1: indent, 2: language, 3: code, index }) => {
        const heading =
          text
            .slice(0, index)
            .match(/^#{1,3} .*$/gm)
            ?.at(-1) ?? '';
        return {
          file,
          heading: heading.replace(/^#+ /, ''),
          language,
          code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
        };
      });
    });
}

/** Records that these blocks were run as they stand. */
export function hasRun(...codes) {
  if (RECORD !== undefined) appendFileSync(RECORD, codes.map((code) => `${JSON.stringify(code)}\n`).join(''));
}

/** "N found, N run, N compiled, N not run" with the reasons. The suite compiles every block of TypeScript and JavaScript. */
export function summary(root, record) {
  const ran = new Set(
    existsSync(record)
      ? readFileSync(record, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [],
  );
  const found = blocksOf(root);
  const rest = found.filter(({ code }) => !ran.has(code));
  const recipes = rest.filter(isRecipe);
  const others = rest.filter((block) => !recipes.includes(block));
  const compiled = others.filter(({ language }) => COMPILED.includes(language));
  const left = others.filter((block) => !compiled.includes(block));
  const kinds = [...new Set(left.map(({ language }) => language))].map(
    (kind) =>
      `${left.filter(({ language }) => language === kind).length} ${kind || 'without a language'}: ${reason(kind)}`,
  );
  return [
    `${found.length} found, ${found.length - rest.length} run here, ${recipes.length} run by npm run test:recipes,`,
    `${compiled.length} compiled only, ${left.length} not run (${kinds.join('; ')})`,
  ].join(' ');
}

/** True for the files and commands of a recipe in docs/frameworks.md. */
function isRecipe({ file, heading, language }, _index, all) {
  if (file !== join('docs', 'frameworks.md') || !['ts', 'js', 'bash'].includes(language)) return false;
  return all.some((block) => block.file === file && block.heading === heading && block.language === 'bash');
}

function reason(language) {
  if (language === 'bash' || language === 'sh') return 'commands for a shell, a registry or a clone of the repository';
  if (['json', 'yaml', 'dockerfile', 'nginx', 'promql'].includes(language)) return 'for another program';
  return 'text, styles or markup to look at';
}
