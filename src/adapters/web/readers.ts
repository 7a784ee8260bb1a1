import { RequestError } from '../../domain/shared/errors.js';
import { JsonCursor, JsonTextError } from '../../domain/shared/json-cursor.js';
import type { HttpRequest } from '../../ports/http.js';
import type { Reader, Reading } from './door.js';
import { type JsonBody, readJsonBody } from './request-body.js';

/** Reads a JSON body; exceptions of `parse` are faults of the request. */
export function json<Value, Place = undefined>(
  parse: (body: JsonBody, request: HttpRequest, place: Place) => Reading<Value>,
  types?: readonly string[],
): Reader<Value, Place> {
  return async (request, site, place) => {
    const body = await readJsonBody(request, site, types);
    const { share } = body;
    try {
      return { ...parse(body, request, place), share };
    } catch (fault) {
      return { fault, share };
    }
  };
}

/** Reads nothing: path, query and fields say everything. */
export const nothing: Reader<undefined, unknown> = () => ({});

/** True if a request has no body; one that was consumed is not absent. */
export function isAbsent({ body, bodyConsumed }: HttpRequest): boolean {
  return body === null && !bodyConsumed;
}

/** @throws RequestError `body_invalid` for anything but one JSON value. */
export function checkJson(bytes: Uint8Array): void {
  try {
    const cursor = new JsonCursor(bytes);
    cursor.skipValue();
    cursor.end();
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new RequestError('body_invalid', {
      detail:
        error.reason === 'depth' ? 'The request body is nested too deeply.' : 'The request body is not JSON in UTF-8.',
      hint: 'Send one JSON value.',
    });
  }
}
