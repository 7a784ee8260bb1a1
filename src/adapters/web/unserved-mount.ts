import { readRpcMessage } from '../../domain/chat/chat-message.js';
import { readStart } from '../../domain/upstream/body-bytes.js';
import type { HttpHandler, HttpRequest } from '../../ports/http.js';
import { errorContext, errorResponse, type ErrorSite, PROBLEMS, RPC_ERRORS } from './error-response.js';

/** Responds to every request of a mount that cannot work with its error; on `chat` mounts in the form of A2A. */
export function errorHandler(site: ErrorSite, cause: unknown, chat: boolean): HttpHandler {
  return async (request) => {
    const isChat = chat && request.method === 'POST';
    const form = isChat ? { ...RPC_ERRORS, id: await idOf(request) } : PROBLEMS;
    return errorResponse(cause, form, errorContext(site, 'chat'));
  };
}

const MAX_READ = 65_536;
const READ_MS = 1_000;

/** The id of a JSON-RPC request that is not served; `null` if it is long or arrives slowly. */
async function idOf({ body }: HttpRequest): Promise<string> {
  const { bytes, isWhole } = await readStart(body, MAX_READ, AbortSignal.timeout(READ_MS));
  return isWhole ? readRpcMessage(bytes, 'method').id : 'null';
}
