import type { HeaderFields } from '../../ports/http.js';
import { parsedJson } from '../shared/json.js';
import { ByteCollector } from '../shared/bytes.js';
import { isEventStream } from '../shared/media-type.js';

/** Longer error bodies are not looked into, compressed or not: a megabyte of empty objects takes a parser 160 ms. */
export const MAX_ERROR_BYTES = 262_144;

const FORMATS: Readonly<Record<string, CompressionFormat>> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate' };

/**
 * Whether a body says nothing but JSON-RPC errors (JSON-RPC 2.0 §5.1), which are meant for the client: one, a batch of them,
 * or a stream of events that hold one each; also when it is compressed.
 */
export async function isRpcErrorBody(headers: HeaderFields, body: Uint8Array): Promise<boolean> {
  const bytes = await decoded(body, headers['content-encoding']);
  if (bytes === undefined) return false;
  const text = new TextDecoder().decode(bytes);
  const values = isEventStream(headers) ? eventData(text).map((data) => parsedJson(data)) : [parsedJson(text)].flat();
  return values.length > 0 && values.every(isRpcError);
}

function isRpcError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || !('error' in value)) return false;
  return typeof value.error === 'object' && value.error !== null;
}

/** The data of each event (HTML, "Interpreting an event stream"). */
function eventData(text: string): string[] {
  const events = text.split(/(?:\r\n|\r|\n){2}/);
  const data = events.map((event) =>
    event
      .split(/\r\n|\r|\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5))
      .join('\n'),
  );
  return data.filter((one) => one !== '');
}

async function decoded(body: Uint8Array, coding: HeaderFields[string]): Promise<Uint8Array | undefined> {
  if (coding === undefined || coding === 'identity') return body;
  const format = typeof coding === 'string' ? FORMATS[coding.toLowerCase()] : undefined;
  if (format === undefined) return undefined;
  const collector = new ByteCollector();
  try {
    const stream = new Blob([body as BlobPart]).stream().pipeThrough(new DecompressionStream(format));
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      collector.push(chunk);
      if (collector.length > MAX_ERROR_BYTES) return undefined;
    }
  } catch {
    return undefined;
  }
  return collector.take();
}
