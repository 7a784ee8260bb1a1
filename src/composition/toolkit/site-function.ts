import { DeadlineError, inTime } from '../../adapters/system/timed-ports.js';
import { AgentBffError, isAgentBffError } from '../../domain/shared/errors.js';

/** Calls a function of the site within the time of a session library; `failure` creates the error from the reason. */
export async function siteSays<T>(
  ask: () => T | Promise<T>,
  sessionMs: number,
  failure: (reason: string) => AgentBffError,
): Promise<T> {
  try {
    return await inTime((async () => ask())(), sessionMs, 'it');
  } catch (error) {
    if (isAgentBffError(error)) throw error;
    throw failure(error instanceof DeadlineError ? error.message : `it threw ${thrown(error)}`);
  }
}

/** The error for a function of the site, by the name of its option. */
export function siteFailed(option: string, detail: string): (reason: string) => AgentBffError {
  return (reason) =>
    new AgentBffError('internal_error', {
      detail,
      hint: `Check the function in "${option}"; the server log has the cause.`,
      block: option,
      log: `The function in "${option}" failed: ${reason}.`,
    });
}

/**
 * The type of an exception, and its location. Its message is left out: that of `Headers` quotes the rejected value,
 * that of a session library the cookie.
 */
function thrown(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [place] = /^ +at .+$/m.exec(String(error.stack).replace(error.message, '')) ?? [''];
  return `${error.name} ${place.trim()}`.trim();
}
