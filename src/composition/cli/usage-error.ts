import { type AgentBffError, ConfigurationError, isAgentBffError } from '../../domain/shared/errors.js';

const BLOCK = 'command line';

/** Something wrong with the command line, or with what an option names: exit status 2. */
export function usageError(option: string, detail: string, hint: string): ConfigurationError {
  return new ConfigurationError({ detail, hint, block: BLOCK, fields: [option] });
}

export function isUsageError(error: unknown): error is AgentBffError {
  return isAgentBffError(error) && error.block === BLOCK;
}

/**
 * A whole number given on the command line.
 *
 * @throws ConfigurationError when the text is none from 0 to `most`.
 */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  const detail = `${option} takes a whole number from 0 to ${String(most)}, and is ${JSON.stringify(text)}.`;
  throw usageError(option, detail, `Correct ${option}.`);
}
