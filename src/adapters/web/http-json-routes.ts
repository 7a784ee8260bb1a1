import {
  type HttpJsonBinding,
  type HttpJsonBody,
  type HttpJsonCall,
  httpJsonCall,
} from '../../domain/chat/http-json-binding.js';
import type { HttpHandler, HttpRequest } from '../../ports/http.js';
import { allowanceOf, type ChatMount, entranceOf, visited } from './chat-mount.js';
import { type Reader, route } from './door.js';
import { REST_ERRORS } from './error-response.js';
import { isAbsent, json } from './readers.js';

export interface HttpJsonRoutes extends ChatMount {
  readonly binding: HttpJsonBinding;
}

/** A path of the binding, and the A2A method that it means with the request's own; empty if it has none. */
interface CallPlace {
  readonly call: HttpJsonCall;
  readonly method: string;
}

/** Routes below the chat mount point for clients of the HTTP+JSON binding, v1.0 and v0.3; all other paths are 404. */
export function httpJsonRoutes(mount: HttpJsonRoutes): HttpHandler {
  const { auth, policy, binding } = mount;
  return route<HttpJsonBody | undefined, CallPlace>(
    {
      name: 'chat',
      place: placeOf,
      methods: ({ call }) => Object.keys(call.methods),
      origin: 'own-pages-with-visitor',
      limit: ({ place }) => allowanceOf(place.method),
      read,
      errors: REST_ERRORS,
    },
    mount,
    async (admitted) => {
      const { request, value: body } = admitted;
      const { call, method } = admitted.place;
      const found = await visited(mount, admitted, { method, taskId: call.taskId });
      return binding.forward({ head: request, call, body }, auth, policy, entranceOf(mount, request), found);
    },
  );
}

function placeOf({ method, path }: HttpRequest): CallPlace | undefined {
  const call = httpJsonCall(path);
  return call && { call, method: call.methods[method] ?? '' };
}

const body = json<HttpJsonBody | undefined, CallPlace>(
  (value) => ({ value }),
  ['application/json', 'application/a2a+json'],
);
/** Cancelling and subscribing need no body, so a missing one is not an error. */
const read: Reader<HttpJsonBody | undefined, CallPlace> = (request, site, place) =>
  request.method !== 'POST' || isAbsent(request) ? {} : body(request, site, place);
