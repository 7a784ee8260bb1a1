import type { ErrorRequestHandler } from 'express';

/**
 * Responds to errors of a body parser as the SDK does, in JSON-RPC, instead of Express's web page. The terminal gets the
 * errors of the platform itself.
 */
export const answerBodyErrors: ErrorRequestHandler = (
  error: { status?: number; type?: string },
  _request,
  response,
  next,
) => {
  if ((error.status ?? 500) >= 500) console.error('platform:', error);
  if (response.headersSent) {
    next(error);
    return;
  }
  const known = {
    'entity.parse.failed': { status: 200, code: -32700, message: 'Invalid JSON payload.' },
    'entity.too.large': { status: 413, code: -32600, message: 'The message is larger than 2 MB.' },
  }[error.type ?? ''];
  const { status, code, message } = known ?? { status: error.status ?? 500, code: -32603, message: 'Internal error.' };
  response.status(status).json({ jsonrpc: '2.0', id: null, error: { code, message } });
};
