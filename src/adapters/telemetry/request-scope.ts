import { AsyncLocalStorage } from 'node:async_hooks';
import type { ObservedRequest } from '../../ports/telemetry.js';
import { requestSecrets } from './request-secrets.js';

interface Scope {
  readonly request: ObservedRequest;
  /** Tokens of the visitor that the request does not hold itself. */
  readonly tokens: string[];
}

const running = new AsyncLocalStorage<Scope>();

/** Runs the work of one request, so that everything it causes can name it. */
export function inRequest<Result>(request: ObservedRequest, work: () => Result): Result {
  return running.run({ request, tokens: [] }, work);
}

/** The name of the request on whose behalf this code runs; absent outside of one. */
export function currentRequestId(): string | undefined {
  return running.getStore()?.request.requestId;
}

/** Remembers a token of the visitor while this request runs, so that no text about the request shows it. */
export function hideToken(token: string): void {
  running.getStore()?.tokens.push(token);
}

/** What no text about the request that runs may show: what it holds itself, and the tokens it led to. */
export function currentSecrets(): readonly string[] {
  const scope = running.getStore();
  return scope === undefined ? [] : [...scope.tokens, ...requestSecrets(scope.request.headers)];
}

// Random once, then counted: unique across processes, and free per request.
const prefix = crypto.randomUUID().slice(0, 8);
let count = 0;

/** A name for one request, such as `3f9a1c07-2s`. */
export function newRequestId(): string {
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
