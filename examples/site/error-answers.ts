import type { ErrorRequestHandler } from 'express';

interface HttpError {
  readonly status?: number;
  readonly type?: string;
}

/**
 * Responds to errors before a route, usually from `express.json()`, in the format of the chat. Without it Express sends
 * a web page, with a stack trace outside of production. The terminal gets the errors of the site itself.
 */
export const answerErrors: ErrorRequestHandler = (error: HttpError, _request, response, next) => {
  if ((error.status ?? 500) >= 500) console.error('site:', error);
  if (response.headersSent) {
    next(error);
    return;
  }
  const { status = 500, type } = error;
  response.status(status).json({ jsonrpc: '2.0', id: null, error: describe(status, type) });
};

function describe(status: number, type: string | undefined): { code: number; message: string } {
  if (type === 'entity.parse.failed') return { code: -32700, message: 'The message is not valid JSON.' };
  if (status === 413) return { code: -32600, message: 'The message is larger than 2 MB.' };
  if (status < 500) return { code: -32600, message: 'The request could not be read.' };
  return { code: -32603, message: 'The site could not handle the request.' };
}
