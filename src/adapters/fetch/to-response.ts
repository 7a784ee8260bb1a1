import type { HttpBody, HttpResponse } from '../../ports/http.js';
import type { FetchRequest } from './to-http-request.js';

/** How a server sends what it is given. */
export interface SendingHabits {
  /** Whether it keeps the head back until the first chunk of a stream. An empty chunk then makes it send the head at once, and changes no byte of the body. */
  readonly sendsHeadWithFirstChunk: boolean;
}

/** Statuses that a `Response` refuses a body with (Fetch, "null body status"). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

const encoder = new TextEncoder();

/**
 * Writes our response as a Web `Response`, with what session libraries wrote for it. Its body is pulled as the reader asks, and let go when
 * the reader cancels. A body that breaks errors the stream: a clean end would claim that the answer was complete.
 */
export function toResponse(answer: HttpResponse, request: FetchRequest, habits: SendingHabits): Response {
  const { status, body } = answer;
  const headers = headersOf(answer, request);
  if (request.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    cancel(body);
    return new Response(null, { status, headers });
  }
  return new Response(bodyInit(body, habits), { status, headers });
}

function headersOf(answer: HttpResponse, { native: { response: written } }: FetchRequest): Headers {
  const { headers } = written;
  written.headersSent = true;
  for (const name in answer.headers) {
    const value = answer.headers[name];
    if (value === undefined) continue;
    if (name !== 'set-cookie') headers.delete(name);
    // One by one: cookies in one field would be one broken cookie.
    for (const single of typeof value === 'string' ? [value] : value) headers.append(name, single);
  }
  return headers;
}

function bodyInit(body: HttpBody, habits: SendingHabits): BodyInit | null {
  if (body === null) return null;
  // As bytes: for a text, `Response` would add a content type.
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return pulled(body, habits);
}

function pulled(body: AsyncIterable<Uint8Array>, { sendsHeadWithFirstChunk }: SendingHabits): ReadableStream {
  const source = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        if (sendsHeadWithFirstChunk) controller.enqueue(new Uint8Array(0));
      },
      pull: async (controller) => {
        const { done, value } = await source.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => {
        await source.return?.();
      },
    },
    // Nothing is read ahead: a slow browser slows the platform down.
    { highWaterMark: 0 },
  );
}

function cancel(body: HttpBody): void {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
