import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { HttpBody } from '../../ports/http.js';

const DECODERS = {
  br: createBrotliDecompress,
  deflate: createInflate,
  gzip: createGunzip,
  'x-gzip': createGunzip,
};

/**
 * A body without its content coding, decoded as it comes; breaks when the body breaks or is not what the coding says.
 *
 * @throws Error when the coding is none of gzip, deflate and br.
 */
export function decodedBody(body: Exclude<HttpBody, null>, coding: string): AsyncIterable<Uint8Array> {
  const name = coding.trim().toLowerCase();
  if (!Object.hasOwn(DECODERS, name)) throw new Error(`no decoder for the content coding "${name}"`);
  const decoder = DECODERS[name as keyof typeof DECODERS]();
  const source = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  // The reader sees what breaks as an error of the decoder.
  pipeline(Readable.from(source, { objectMode: false }), decoder, () => undefined);
  return bounded(decoder);
}

/** The size a body may always grow to, and beyond it how many times its compressed size. Text seldom shrinks to a hundredth. */
const FREE_BYTES = 16_777_216;
const MAX_TIMES = 250;

/** Breaks off a body that grows without measure: the platform sent little, and the site would send it to the browser in full. */
async function* bounded(decoder: ReturnType<(typeof DECODERS)[keyof typeof DECODERS]>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > FREE_BYTES && size > decoder.bytesWritten * MAX_TIMES)
      throw new Error('a compressed body grew without measure');
    yield chunk;
  }
}
