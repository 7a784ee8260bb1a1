import { A2AError } from '@a2a-js/sdk/errors';

import { SiteError } from './read-answer';

/** What went wrong, in words for the visitor. */
export function describeFailure(error: unknown): string {
  return refusal(error)?.message ?? 'The connection to the site was lost. Please try again.';
}

/** The refusal by site or agent that an error stands for; undefined when the connection broke, so that nobody refused. */
export function refusal(error: unknown): Error | undefined {
  if (error instanceof A2AError || error instanceof SiteError) return error;
  if (error instanceof Error && error.cause instanceof A2AError) return error.cause;
  // Every answer that is no JSON-RPC answer reaches us as a plain error: a page of some proxy on the way, say.
  if (error instanceof Error && error.message.startsWith('HTTP error')) {
    return new Error('The site cannot be reached at the moment. Please try again later.', { cause: error });
  }
  return undefined;
}
