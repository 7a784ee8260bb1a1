import { RequestError } from '../../domain/shared/errors.js';
import { checkJson, JsonTextError } from '../../domain/shared/json-document.js';
import type { HttpRequest } from '../../ports/http.js';
import type { Reader, Reading } from './door.js';
import { type JsonBody, readJsonBody } from './request-body.js';

/** Reads a JSON body; exceptions of `parse` are faults of the request. */
export function json<Value, Target = undefined>(
  parse: (body: JsonBody, request: HttpRequest, target: Target) => Reading<Value>,
  types?: readonly string[],
): Reader<Value, Target> {
  return async (request, site, target) => {
    const body = await readJsonBody(request, site, types);
    const { reservation } = body;
    try {
      const { value, id, fault } = parse(body, request, target);
      return { value, id, fault, reservation };
    } catch (fault) {
      return { fault, reservation };
    }
  };
}

/** Reads nothing: path, query and fields say everything. */
export const nothing: Reader<undefined, unknown> = () => ({});

/**
 * Reads the browser's protocol version: by header field, or by query if it cannot set one (A2A v1.0 §3.6.1); empty if it
 * names none.
 */
export const protocolVersion: Reader<string, unknown> = ({ headers, query }) => {
  const field = headers['a2a-version'];
  if (field !== undefined) return { value: String(field) };
  const asked = [...new URLSearchParams(query)].find(([name]) => name.toLowerCase() === 'a2a-version')?.[1] ?? '';
  // The version becomes an upstream header field.
  return { value: /^[\x21-\x7e]*$/.test(asked) ? asked : '' };
};

/** True if a request has no body; one that was consumed is not absent. */
export function isAbsent({ body, bodyConsumed }: HttpRequest): boolean {
  return body === null && !bodyConsumed;
}

/** @throws RequestError `body_invalid` for anything but one JSON value within the limits. */
export function checkInput(bytes: Uint8Array): void {
  try {
    checkJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new RequestError('body_invalid', {
      detail: `The request body ${error.message}.`,
      hint: error.reason === 'syntax' ? 'Send one JSON value.' : 'Send less, or the data as a text.',
    });
  }
}
