import { after } from '../../adapters/system/system.js';
import { withTimeout } from '../../domain/shared/deadline.js';
import { type AgentBffError, isAgentBffError } from '../../domain/shared/errors.js';
import { reasonOf } from '../../domain/shared/failure-reason.js';

/** Calls a function of the site within the time of a session library; `failure` creates the error from the reason. */
export async function siteSays<T>(
  ask: () => T | Promise<T>,
  sessionMs: number,
  failure: (reason: string) => AgentBffError,
): Promise<T> {
  try {
    return await withTimeout(after(sessionMs, 'it'), (async () => ask())());
  } catch (error) {
    throw isAgentBffError(error) ? error : failure(reasonOf(error));
  }
}
