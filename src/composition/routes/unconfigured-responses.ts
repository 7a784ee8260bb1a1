import { TerminalTelemetry } from '../../adapters/telemetry/terminal-telemetry.js';
import { errorHandler } from '../../adapters/web/unserved-mount.js';
import { errorContext, type ErrorSite, notFound } from '../../adapters/web/error-response.js';
import { notSet } from '../../domain/credentials/credential.js';
import type { ServiceAuthError } from '../../domain/shared/errors.js';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http.js';
import { processFaults, provideExchange } from '../toolkit/process-wide.js';
import { newRequestId } from '../../adapters/telemetry/request-scope.js';

// Responses of routes without a toolkit. Loaded on demand by entries that only mount routes, which is seldom.

provideExchange();

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

/** The chat route before `configureServer`. */
export const unconfiguredChat: HttpHandler = errorHandler(BARE_SITE, notConfigured(), true);

/** All other routes before `configureServer`. */
export const unconfigured: HttpHandler = errorHandler(BARE_SITE, notConfigured(), false);

/** Responds to every request with 404. */
export const noRoute: HttpHandler = (request) => Promise.resolve(notFound(request, errorContext(BARE_SITE, 'none')));

/** A route whose options the configured toolkit rejects. */
export function misconfigured(request: HttpRequest, error: unknown): Promise<HttpResponse> {
  return errorHandler(BARE_SITE, error, true)(request);
}
