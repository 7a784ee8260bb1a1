import { type AgentBffError, isAgentBffError } from '../../src/domain/shared/errors.js';

/** The error of this package that a call fails with. */
export async function errorOf(call: Promise<unknown>): Promise<AgentBffError> {
  const error: unknown = await call.then(
    () => new Error('the call did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!isAgentBffError(error)) throw error;
  return error;
}
