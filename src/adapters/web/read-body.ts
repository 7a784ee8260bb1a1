import { RequestError } from '../../domain/errors.js';
import { isStream } from '../../domain/upstream/body-kind.js';
import { mediaType } from '../../domain/upstream/header-policy.js';
import type { HttpRequest } from '../../ports/http.js';
import type { SiteSettings } from './site-settings.js';
import { timedBody } from './timed-body.js';

/** A JSON body as it will be sent, and ways to look into it that cost nothing until they are used. */
export interface JsonBody {
  readonly bytes: Uint8Array | string;
  readonly parsed: () => unknown;
  /** The text, when it is the browser's own and not one written anew from a parsed value. */
  readonly text: () => string | undefined;
}

/** What a site takes of a body. */
export type BodyLimits = Pick<SiteSettings, 'bodyLimitBytes' | 'requestBodyMs'>;

/** The media types of JSON without a vocabulary of its own. */
export const JSON_TYPES: readonly string[] = ['application/json'];

// Fatal: bytes that are no UTF-8 are no JSON (RFC 8259 §8.1).
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a JSON request body of one of these media types, as long and as large as the site takes it.
 * `lookedInto` says what of its bytes is worth looking into: nothing else is decoded and parsed.
 *
 * @throws RequestError `content_type_unsupported`, `content_encoding_unsupported`, `body_too_large`, `body_timeout`, `body_consumed` or `body_invalid`.
 */
export function readJsonBody(
  request: HttpRequest,
  limits: BodyLimits,
  types: readonly string[] = JSON_TYPES,
  lookedInto: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
): JsonBody | Promise<JsonBody> {
  checkDeclaration(request, limits, types);
  const { body } = request;
  return isStream(body)
    ? readComing(request, limits, lookedInto)
    : jsonBody(atHand(body, limits.bodyLimitBytes), request, lookedInto);
}

function checkDeclaration(request: HttpRequest, { bodyLimitBytes }: BodyLimits, types: readonly string[]): void {
  if (!types.includes(mediaType(request.headers))) {
    throw new RequestError('content_type_unsupported', {
      detail: 'The request body is not declared as JSON.',
      hint: 'Send the header "Content-Type: application/json".',
    });
  }
  if (request.bodyConsumed) {
    throw new RequestError('body_consumed', {
      detail: 'A middleware of this server read the request body before the route and left nothing of it.',
      hint: 'Mount the router before that middleware, or let it keep the result in "req.body" or "req.rawBody".',
    });
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new RequestError('content_encoding_unsupported', {
      detail: 'The request body is compressed, and no parser of this server decoded it.',
      hint: 'Send it without "Content-Encoding", or mount express.json() before the router.',
    });
  }
  if (Number(request.headers['content-length']) > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
}

async function readComing(
  request: HttpRequest,
  { bodyLimitBytes, requestBodyMs }: BodyLimits,
  lookedInto: (bytes: Uint8Array) => Uint8Array,
): Promise<JsonBody> {
  // Node reads a short message together with its head: after its callback all of it is at hand, and needs no events.
  await Promise.resolve();
  const body = timedBody(request.body, requestBodyMs, 'body');
  const bytes = isStream(body) ? await readStream(body, bodyLimitBytes) : atHand(body, bodyLimitBytes);
  return jsonBody(bytes, request, lookedInto);
}

function jsonBody(
  bytes: Uint8Array | string,
  request: HttpRequest,
  lookedInto: (bytes: Uint8Array) => Uint8Array,
): JsonBody {
  if (bytes.length === 0) throw invalid('The request body is empty.');
  if (request.parsedBody !== undefined) {
    const value = request.parsedBody;
    return { bytes, parsed: () => value, text: () => undefined };
  }
  let text: string | undefined;
  let value: unknown;
  let known = false;
  const readText = (): string => (text ??= decode(bytes, lookedInto));
  return {
    bytes,
    text: readText,
    parsed: () => {
      if (!known) value = parse(readText());
      known = true;
      return value;
    },
  };
}

function atHand(body: Uint8Array | string | null, limitBytes: number): Uint8Array | string {
  // A text here was written by the bridge from a parsed value, under the parser's own limit.
  if (body instanceof Uint8Array && body.length > limitBytes) throw tooLarge(limitBytes);
  return body ?? '';
}

async function readStream(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > limitBytes) throw tooLarge(limitBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw invalid('The request body ended before it was complete.');
  }
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function decode(bytes: Uint8Array | string, lookedInto: (bytes: Uint8Array) => Uint8Array): string {
  if (typeof bytes === 'string') return bytes;
  try {
    return decoder.decode(lookedInto(bytes));
  } catch {
    throw invalid('The request body is not UTF-8 text.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('The request body is not JSON.');
  }
}

function invalid(detail: string): RequestError {
  return new RequestError('body_invalid', { detail, hint: 'Send one JSON object.' });
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError('body_too_large', {
    detail: `The request body is larger than ${String(limitBytes)} bytes.`,
    hint: 'Send less, or raise "bodyLimitBytes" in configureServer.',
    fields: ['bodyLimitBytes'],
  });
}
