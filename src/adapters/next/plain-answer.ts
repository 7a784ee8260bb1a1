import type { HttpBody, HttpResponse } from '../../ports/http.js';
import { decodedBody } from '../node/decoded-body.js';

/**
 * The answer without its content coding. Next drops `content-encoding` from what a route answers, whatever the bytes are.
 *
 * @throws Error when the coding is unknown: the browser would take compressed bytes for the text.
 */
export function plainAnswer(answer: HttpResponse): HttpResponse {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = answer.headers;
  if (coding === undefined || coding === 'identity') return answer;
  return { ...answer, headers, body: decoded(answer.body, String(coding)) };
}

function decoded(body: HttpBody, coding: string): HttpBody {
  return body === null ? null : decodedBody(body, coding);
}

const DECODABLE: ReadonlySet<string> = new Set(['br', 'deflate', 'gzip']);

/** The fields of a request that asks the platform for no coding but those that can be taken off again. */
export function withDecodable<Fields extends Readonly<Record<string, string>>>(headers: Fields): Fields {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return headers;
  const kept = accepted.split(',').filter((one) => DECODABLE.has((one.split(';', 1)[0] ?? '').trim().toLowerCase()));
  return { ...headers, 'accept-encoding': kept.length === 0 ? 'identity' : kept.join(',') };
}
