import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import {
  errorContext,
  errorResponse,
  type ErrorSite,
  notFound,
  PROBLEMS,
  RPC_ERRORS,
} from '../../adapters/web/error-response.js';
import { readRpcCall } from '../../domain/chat/call.js';
import { notSet } from '../../domain/credentials/credential.js';
import type { ServiceAuthError } from '../../domain/shared/errors.js';
import { readStart } from '../../domain/upstream/body-bytes.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { processFaults } from '../toolkit/process-wide.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';

// Responses of routes without a toolkit.

const BARE_SITE: ErrorSite = {
  telemetry: new TerminalTelemetry(processFaults(), { name: '', secrets: [] }),
  authUnavailableStatus: 401,
  newRequestId,
};

/** The error for calls that need a toolkit before `configureServer`. */
export function notConfigured(): ServiceAuthError {
  return notSet('The server is not configured.', configureHint());
}

/** Next runs `instrumentation.ts` when a server starts, but not while it builds pages. */
function configureHint(): string {
  const { NEXT_PHASE, NEXT_RUNTIME } = process.env;
  if (NEXT_PHASE === 'phase-production-build')
    return 'Next does not run instrumentation.ts while it builds: call "await connection()" of next/server before this call, so that the page is rendered for each request.';
  const place = NEXT_RUNTIME === undefined ? '' : ': in register() of instrumentation.ts';
  return `Call configureServer when the server starts${place}.`;
}

const MAX_READ = 65_536;
const READ_MS = 1_000;

/** The response of a route before `configureServer`, or of one whose options the configured toolkit rejects with `cause`. */
export async function unusable(
  request: HttpRequest,
  cause: unknown = notConfigured(),
  site: ErrorSite = BARE_SITE,
): Promise<HttpResponse> {
  const isMessage = request.method === 'POST' && ['', '/'].includes(request.path);
  const context = errorContext(site, 'chat');
  if (!isMessage) return errorResponse(cause, PROBLEMS, context);
  return errorResponse(cause, RPC_ERRORS, { ...context, id: await idOf(request) });
}

/** Responds to every request with 404. */
export const noRoute: HttpHandler = (request) => Promise.resolve(notFound(request, errorContext(BARE_SITE, 'none')));

/** The id of a JSON-RPC request that is not served; `null` if it is long or arrives slowly. */
async function idOf({ body }: HttpRequest): Promise<string> {
  const { bytes, isWhole } = await readStart(body, MAX_READ, AbortSignal.timeout(READ_MS));
  return isWhole ? readRpcCall(bytes, '', false).id : 'null';
}
