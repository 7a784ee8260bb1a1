// Results as JSON, and as the tables of bench/results.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { environmentLine } from './environment.mjs';
import { limitText, TARGETS, verdict } from './targets.mjs';

const RESULTS = fileURLToPath(new URL('./results', import.meta.url));
const PASSING = fileURLToPath(new URL('./.work/results', import.meta.url));

/** Folder of the results; those of a quick run are not committed. */
export function resultsFolder({ quick }) {
  return quick ? PASSING : RESULTS;
}

/** Results of earlier runs on this Node line, so that a run may measure some workloads only. */
export function earlierResults(folder, node) {
  const file = join(folder, `${lineOf(node)}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Writes every round as JSON, and targets and figures as Markdown. */
export async function writeResults(folder, node, results) {
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify(results)
    .replaceAll(/(?=\{"key":)/g, '\n')
    .replaceAll(/(?<=\}),(?="[\w-]+":\{"title")/g, ',\n');
  writeFileSync(join(folder, `${lineOf(node)}.json`), `${text}\n`);
  const markdown = `# Benchmark results\n\n${environments(results)}\n\n## Targets\n\n${targetTable(results)}\n\n${tables(results)}\n`;
  const file = join(folder, `${lineOf(node)}.md`);
  writeFileSync(file, await format(markdown, { ...(await resolveConfig(file)), filepath: file }));
}

/** One line per target, for the terminal. */
export function verdictLines(results) {
  return TARGETS.map((target) => {
    const { subject, limit, found, verdict: word } = row(target, results);
    return `${word.padEnd(9)} ${target.id.padEnd(4)} ${subject} ${target.measure} ${limit}: ${found}`;
  });
}

/** The first line of every result: one per day or machine that workloads were measured on. */
function environments(results) {
  const lines = new Set(Object.values(results).map((result) => `${environmentLine(result.environment)}.`));
  return [...lines].join('\n\n');
}

function targetTable(results) {
  const lines = TARGETS.map((target) => {
    const { subject, limit, found, verdict: word } = row(target, results);
    const { title, measures } = results[target.workload] ?? { title: target.workload, measures: {} };
    const measure = measures[target.measure] ?? target.measure;
    return `| ${target.id} | ${title} | ${subject} | ${measure} | ${limit} | ${found} | ${word} |`;
  });
  return [
    '| | workload | subject | figure | target | measured | |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

function row(target, results) {
  const found = verdict(target, results);
  return {
    subject: labelOf(results, target, target.subject),
    limit: limitText({
      ...target,
      times: target.times && labelOf(results, target, target.times),
      over: target.over && labelOf(results, target, target.over),
    }),
    found: found.kind === 'none' ? found.reason : number(found.value),
    verdict: found.kind === 'none' ? 'no figure' : found.kind,
  };
}

function labelOf(results, { workload }, key) {
  return results[workload]?.figures.find((figure) => figure.key === key)?.label ?? key;
}

function tables(results) {
  return Object.values(results)
    .map((result) => {
      const names = Object.keys(result.measures);
      const head = `| | ${names.map((name) => `${result.measures[name]} (median / min / spread)`).join(' | ')} |`;
      const lines = result.figures.map((figure) => {
        const cells = names.map((name) => (figure.problem === undefined ? cell(figure.measures[name]) : ''));
        if (figure.problem !== undefined) cells[0] = figure.problem.replaceAll('|', '\\|');
        return `| ${isOurs(figure) ? `**${figure.label}**` : figure.label} | ${cells.join(' | ')} |`;
      });
      const notes = (result.notes ?? []).map((note) => `\n${note}`);
      const quick = result.quick ? ' Short rounds: a look, no result.' : '';
      return [
        `## ${result.title}\n`,
        `${result.about}${quick}\n`,
        head,
        `| --- |${' --- |'.repeat(names.length)}`,
        ...lines,
        ...notes,
      ].join('\n');
    })
    .join('\n\n');
}

function cell(measure) {
  if (measure === undefined) return '';
  return `${number(measure.median)} / ${number(measure.minimum)} / ${Math.round(measure.spread * 100)} %`;
}

function isOurs({ name }) {
  return name.startsWith('ours');
}

function number(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function lineOf(node) {
  return `node-${/^v(\d+)/.exec(node)?.[1] ?? 'unknown'}`;
}
