/** The deadline passed without a result. */
export class DeadlineError extends Error {
  override readonly name: string = 'DeadlineError';

  constructor(what: string, ms: number) {
    super(`${what} did not respond within ${String(ms)} ms`);
  }
}

/**
 * The reason why `who` failed: a passed deadline, or the type of an exception, and its location. Its message is left
 * out: that of `Headers` quotes the rejected value, that of a session library the cookie.
 */
export function reasonOf(error: unknown, who: string = 'it'): string {
  if (error instanceof DeadlineError) return error.message;
  if (!(error instanceof Error)) return `${who} threw ${typeof error}`;
  const [frame] = /^ +at .+$/m.exec(String(error.stack).replace(error.message, '')) ?? [''];
  return `${who} threw ${error.name} ${frame.trim()}`.trim();
}
