import { parseArgs } from 'node:util';
import type { ToolkitPorts } from '../toolkit/ports.js';
import { configuration, withEnvFile } from './configuration-source.js';
import { examine, refusedConfiguration } from './doctor.js';
import type { Finding } from './finding.js';
import type { Terminal, TextStyle } from './terminal.js';

const MARKS: Readonly<Record<Finding['result'], readonly [mark: string, style: TextStyle]>> = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
};

/** Runs `doctor`. */
export async function doctorCommand(args: string[], outer: Terminal, ports: ToolkitPorts): Promise<number> {
  const text = { type: 'string' } as const;
  const options = { config: text, 'env-file': text, surface: text, message: text, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options });
  const terminal = await withEnvFile(values['env-file'], outer);
  if (terminal === undefined) return 2;
  const { surface = '', message = '' } = values;
  const { progress = () => undefined } = terminal;
  let findings: readonly Finding[];
  try {
    const config = await configuration(values.config, terminal);
    if (config === undefined) return 2;
    const isProduction = terminal.env['NODE_ENV'] === 'production';
    findings = await examine(config, ports, { surface, message }, (check) => progress(`… ${check}`), isProduction);
  } catch (error) {
    findings = [refusedConfiguration(error)];
  } finally {
    progress('');
  }
  const failed = findings.filter(({ result }) => result === 'failed').length;
  if (values.json === true) {
    terminal.print(JSON.stringify({ ok: failed === 0, findings }, null, 2));
  } else {
    for (const finding of findings) terminal.print(line(finding, terminal));
    terminal.print(failed === 0 ? '\nAll is well.' : `\n${String(failed)} to fix.`);
  }
  return failed === 0 ? 0 : 1;
}

function line(
  { check, result, message, block, fields = [] }: Finding,
  { style = (_, plain) => plain }: Terminal,
): string {
  const [mark, colour] = MARKS[result];
  const found = `${style(colour, mark)} ${check.padEnd(18)}${message}`;
  if (result === 'ok' || block === undefined) return found;
  return `${found}\n    ${style('bold', `fix: ${[block, fields.join(', ')].filter(Boolean).join(': ')}`)}`;
}
