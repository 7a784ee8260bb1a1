import type { HttpBody } from '../../ports/http.js';
import { ByteCollector } from '../shared/byte-collector.js';
import { isStream } from './body-kind.js';

/** The whole body as UTF-8 text; `undefined` when it is longer than `limitBytes` or breaks before its end. */
export async function bodyText(body: HttpBody, limitBytes: number): Promise<string | undefined> {
  if (body === null) return '';
  if (typeof body === 'string') return bodyText(new TextEncoder().encode(body), limitBytes);
  const decoder = new TextDecoder();
  if (body instanceof Uint8Array) return body.length > limitBytes ? undefined : decoder.decode(body);
  const collector = new ByteCollector();
  try {
    for await (const chunk of body) {
      if (collector.length + chunk.length > limitBytes) return undefined;
      collector.push(chunk);
    }
  } catch {
    return undefined;
  }
  return decoder.decode(collector.take());
}

/** Ends a body nobody will read, so that its connection is free. */
export async function discardBody(body: HttpBody): Promise<void> {
  if (!isStream(body)) return;
  await body[Symbol.asyncIterator]().return?.();
}
