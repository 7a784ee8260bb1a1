import { writtenDisposition } from '../../../src/adapters/content-disposition/written-disposition.js';
import { RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { RequestGate } from '../../../src/adapters/web/request-gate.js';
import { BodyBudget } from '../../../src/adapters/web/request-body.js';
import type { SiteSettings } from '../../../src/adapters/web/door.js';
import type { HttpRequest } from '../../../src/ports/http.js';

/** A chat message as a browser on the site sends it. */
export function browserRequest(changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    path: '',
    query: '',
    headers: { 'content-type': 'application/json', host: 'site.example' },
    body: bytes('{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{}}}'),
    bodyConsumed: false,
    publicUrl: 'https://site.example/api/a2a',
    signal: new AbortController().signal,
    native: { request: undefined },
    ...changes,
  };
}

/** A site with the request ids `req-1`, `req-2` and so on. */
export function site(changes: Partial<SiteSettings> = {}): SiteSettings & { readonly telemetry: RecordingTelemetry } {
  let count = 0;
  return {
    origins: { publicOrigin: '', allowedOrigins: new Set() },
    fields: { disposition: writtenDisposition, leftOut: () => undefined },
    bodyLimitBytes: 1_000,
    bodies: bodyBudget(),
    requestBodyMs: 0,
    requestIdleMs: 0,
    gate: new RequestGate({ maxInFlight: 0, sendIdleMs: 0 }),
    keepAliveMs: 15_000,
    authUnavailableStatus: 401,
    newRequestId: () => {
      count += 1;
      return `req-${String(count)}`;
    },
    clock: { now: () => 0 },
    ...changes,
    telemetry: new RecordingTelemetry(),
  };
}

/** A budget of 100,000 bytes, a quarter of them for small bodies. */
export function bodyBudget(now: () => number = () => 0): BodyBudget {
  return new BodyBudget({ limitBytes: 100_000, now });
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A body that arrives in these pieces, and optionally breaks at the end. */
export async function* streamed(
  pieces: readonly (string | Uint8Array)[],
  breaksWith?: Error,
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve();
    yield typeof piece === 'string' ? bytes(piece) : piece;
  }
  if (breaksWith !== undefined) throw breaksWith;
}
