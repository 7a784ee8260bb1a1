import type { HttpBody, HttpResponse } from '../../ports/http.js';

/**
 * The response without its content coding. Next drops `content-encoding` from what a route gives it, whatever the bytes are.
 * A coding nobody knows breaks it off: the browser would take compressed bytes for the text.
 */
export function plainResponse(response: HttpResponse): HttpResponse {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = response.headers;
  if (coding === undefined || coding === 'identity') return response;
  return { ...response, headers, body: response.body && decoded(response.body, String(coding)) };
}

/** Few platforms compress for a server that does not ask for it, so what decodes is loaded when one does. */
async function* decoded(body: Exclude<HttpBody, null>, coding: string): AsyncGenerator<Uint8Array> {
  const { decodedBody } = await import('../node/decoded-body.js');
  yield* decodedBody(body, coding);
}

/** The fields of a request that asks the platform for no coding but those that can be taken off again. */
export function withDecodable<Fields extends Readonly<Record<string, string>>>(headers: Fields): Fields {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return headers;
  const kept = accepted.split(',').filter((one) => /^\s*(?:br|deflate|gzip)\s*(?:;|$)/i.test(one));
  return { ...headers, 'accept-encoding': kept.join(',') || 'identity' };
}
