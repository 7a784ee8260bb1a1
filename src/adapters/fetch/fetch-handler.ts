import { isBelow } from '../../domain/shared/paths.js';
import type { HttpHandler, MountedHandler } from '../../ports/http.js';
import { FetchRequest, requestAddress } from './request.js';
import { toResponse } from './response.js';

/** Passes a Web request to the handler mounted at its path, or to `otherwise`. */
export function fetchHandler(
  routes: readonly MountedHandler[],
  otherwise: HttpHandler,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const address = requestAddress(request.url);
    const route = routes.find(({ mount }) => isBelow(address.path, mount));
    const { mount, handler } = route ?? { mount: '', handler: otherwise };
    const read = new FetchRequest(request, address, { mount, path: address.path.slice(mount.length) });
    return toResponse(await handler(read), read);
  };
}
