import { parseArgs } from 'node:util';
import { visibleLine } from '../../domain/shared/visible-line.js';
import { variablesOf } from '../config/env.js';
import type { ToolkitPorts } from '../toolkit/toolkit-type.js';
import { configuration, SOURCE_OPTIONS } from './configuration-source.js';
import { examine } from './doctor.js';
import { type Finding, refused } from './finding.js';
import type { Terminal, TextStyle } from './terminal.js';
import { isUsageError } from './usage-error.js';

const MARKS: Readonly<Record<Finding['result'], readonly [mark: string, style: TextStyle]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

/** Runs `doctor`. */
export async function doctorCommand(args: string[], terminal: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { ...SOURCE_OPTIONS, surface: text, message: text, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options });
  const { surface = '', message = '' } = values;
  const { progress = () => undefined } = terminal;
  let findings: readonly Finding[];
  try {
    const config = await configuration(values, terminal.env);
    const isProduction = terminal.env['NODE_ENV'] === 'production';
    findings = await examine(config, ports, { surface, message }, (check) => progress(`… ${check}`), isProduction);
  } catch (error) {
    if (isUsageError(error)) throw error;
    findings = [refused('configuration', error)];
  } finally {
    progress('');
  }
  return tell(findings, terminal, values.json === true, values.config === undefined);
}

/** Prints findings for people or programs, and gives the exit status. `byVariables`: the configuration is that of the environment. */
export function tell(
  findings: readonly Finding[],
  terminal: Terminal,
  asJson: boolean,
  byVariables: boolean = false,
): number {
  const failures = findings.filter(({ result }) => result === 'failed');
  const named = (byVariables ? findings.map(withVariables) : findings).map(visible);
  if (asJson) {
    terminal.print(JSON.stringify({ ok: failures.length === 0, findings: named }, null, 2));
  } else {
    for (const finding of named) terminal.print(line(finding, terminal));
    const notes = findings.filter(({ result }) => result === 'warning').length;
    const also = notes === 0 ? '' : ` ${String(notes)} to look at, marked with "!".`;
    terminal.print(failures.length === 0 ? `\nAll is well.${also}` : `\n${String(failures.length)} to fix.`);
  }
  return failures.length === 0 ? 0 : 1;
}

/** A finding whose words can all be seen: they may quote the agent, the platform or the provider. */
function visible({ message, fix, ...rest }: Finding): Finding {
  return { ...rest, message: visibleLine(message), ...(fix !== undefined && { fix: visibleLine(fix) }) };
}

/** A finding with the environment variables that set its fields. */
function withVariables(finding: Finding): Finding {
  const { block = '', fields = [] } = finding;
  const variables = variablesOf(block, fields);
  return variables.length === 0 ? finding : { ...finding, variables };
}

function line(
  { check, result, message, fix, variables = [] }: Finding,
  { style = (_, plain) => plain }: Terminal,
): string {
  const [mark, colour] = MARKS[result];
  const found = `${style(colour, mark)} ${check.padEnd(18)}${message}`;
  if (fix === undefined) return found;
  return `${found}\n    ${style('bold', `fix: ${fix}${variables.length === 0 ? '' : ` (${variables.join(', ')})`}`)}`;
}
