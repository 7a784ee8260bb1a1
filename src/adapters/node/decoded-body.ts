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
 * A body without its content coding, decoded as a stream; breaks if the body breaks or does not match the coding.
 *
 * @throws Error when the coding is none of gzip, deflate and br.
 */
export function decodedBody(body: Exclude<HttpBody, null>, coding: string): AsyncIterable<Uint8Array> {
  const name = coding.trim().toLowerCase();
  if (!Object.hasOwn(DECODERS, name)) throw new Error(`no decoder for the content coding "${name}"`);
  const decoder = DECODERS[name as keyof typeof DECODERS]();
  const source = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  // The reader gets the error from the decoder.
  pipeline(Readable.from(source, { objectMode: false }), decoder, () => undefined);
  return bounded(decoder);
}

/** The size that is always allowed; beyond it, the maximum ratio to the compressed size. Text seldom compresses to a hundredth. */
const FREE_BYTES = 16_777_216;
const MAX_TIMES = 250;

/**
 * Aborts a body that expands excessively (decompression bomb): the platform sends little, and the site would send all
 * of it to the browser.
 */
async function* bounded(decoder: ReturnType<(typeof DECODERS)[keyof typeof DECODERS]>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > FREE_BYTES && size > decoder.bytesWritten * MAX_TIMES)
      throw new Error('a compressed body grew without measure');
    yield chunk;
  }
}
