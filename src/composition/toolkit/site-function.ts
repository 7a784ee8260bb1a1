import { inTime } from '../../adapters/system/timed-ports.js';
import { type AgentBffError, isAgentBffError } from '../../domain/shared/errors.js';
import { reasonOf } from '../../domain/shared/failure-reason.js';

/** Calls a function of the site within the time of a session library; `failure` creates the error from the reason. */
export async function siteSays<T>(
  ask: () => T | Promise<T>,
  sessionMs: number,
  failure: (reason: string) => AgentBffError,
): Promise<T> {
  try {
    return await inTime((async () => ask())(), sessionMs, 'it');
  } catch (error) {
    throw isAgentBffError(error) ? error : failure(reasonOf(error));
  }
}
