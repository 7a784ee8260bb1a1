import type { HttpBody } from '../../ports/http.js';

/** True if a body is a stream, which can be read or sent only once. */
export function isStream(body: HttpBody): body is AsyncIterable<Uint8Array> {
  return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array);
}

/** Statuses whose responses have no body, whatever the platform sends (RFC 9110 §6.4.1, §15.3.6). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** True if a response has no body, whatever its handler returns. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || BODILESS.has(status);
}

/** Cancels an unread body, so that its connection is free. */
export function discard(body: HttpBody): void {
  if (!isStream(body)) return;
  // The iterator of a Node stream that was not read leaves it open.
  if ('destroy' in body && typeof body.destroy === 'function') body.destroy();
  else void cancel(body[Symbol.asyncIterator]());
}

/** Cancels the reading of a body; exceptions are ignored. */
export async function cancel(source: AsyncIterator<Uint8Array>, reason?: Error): Promise<void> {
  try {
    await source.return?.(reason);
  } catch {
    // Cancelled all the same.
  }
}

/** A chunk of a body, or its end. */
export type Step = IteratorResult<Uint8Array, undefined>;

/** The end of a body. */
export const DONE: Step = { done: true, value: undefined };

/**
 * A body that waits for `end` when it is over: complete, broken, or not read any further. Not a generator: one that was
 * not read, or waits for a chunk, cannot be cancelled.
 */
export function endingWith(
  body: AsyncIterable<Uint8Array>,
  end: (isComplete: boolean) => Promise<void>,
): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  let ending: Promise<void> | undefined;
  const iterator = {
    next: async (): Promise<Step> => {
      try {
        const step = await source.next();
        if (step.done === true) await (ending ??= end(true));
        return step;
      } catch (error) {
        await (ending ??= end(false));
        throw error;
      }
    },
    return: async (reason?: Error): Promise<Step> => {
      void cancel(source, reason);
      await (ending ??= end(false));
      return DONE;
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Header fields of a message, by lower-case name. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The media type of a message in lower case, without parameters; empty if it has none. */
export function mediaType(headers: Fields): string {
  const field = headers['content-type'];
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/** True if a message is JSON by its media type (RFC 6839 §3.1), which browsers do not interpret as active content. */
export function isJson(headers: Fields): boolean {
  if (typeof headers['content-type'] !== 'string') return false;
  const type = mediaType(headers);
  return type === 'application/json' || (type.endsWith('+json') && !type.includes(','));
}

/** True for a stream of server-sent events. */
export function isEventStream(headers: Fields): boolean {
  return mediaType(headers) === 'text/event-stream';
}
